"""The command that profiles a program as it is: no line of it changes."""

from __future__ import annotations

import argparse
import atexit
import os
import secrets
import shlex
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from capture.errors import CaptureError, say
from capture.output import run_directory
from capture.output.processes import number, unfinished
from capture.output.ranks import current_job, rank
from capture.recording.compilation import kept_log
from capture.scripts.children import (
    Wish,
    record_children,
    record_nothing,
    tell_of_unreachable,
    was_unreachable,
)
from capture.scripts.endings import save_at_os_exit
from capture.scripts.program import Program, end_of_interrupt, remember_interrupt
from capture.scripts.recorder import Recorder
from capture.scripts.summary import has_profile, summary
from capture.sigterm import Stopped, save_at_sigterm

NO_TORCH = "the program did not import torch"
NO_CALL = (
    "the main thread called no torch.nn.Module and compiled nothing; --from-start records "
    "everything from the import of torch on"
)
OTHER_THREADS = (
    "other threads called modules, but not the main thread, on which a recording begins and ends; "
    "--from-start records all threads"
)
IN_A_PROCESS = "a process that it started ended, or was out of reach, before it wrote its files"
NO_STEP = "the schedule asks for steps that the program did not reach: see --profile-wait"


def profile_script(asked: argparse.Namespace, command: list[str]) -> None:
    """Runs `command`, a script or `-m module` with arguments, and records it.

    Its output and exit code are its own; what capture has to say goes to stderr. Raises
    CaptureError where there is no such program, and SystemExit at its end.
    """
    program = Program.of(command)
    name = run_directory.file_name(asked.profile_name or program.name)
    asked.profile_dir = run_directory.choose(asked.out or asked.profile_dir, name, f"rank{rank()}")
    options = {key: value for key, value in vars(asked).items() if key.startswith("profile")}
    options["from_start"] = asked.from_start
    wish = Wish(secrets.token_hex(4), name, command, options)
    recorder = Recorder(wish.profiler, asked.from_start, wish.program)
    ending = _Ending(asked, wish, recorder)
    failure: BaseException | None = None
    recorder.listen()
    try:
        program.run()
    except BaseException as error:
        failure = error
    try:
        recorder.end(failure)
    except CaptureError as error:
        recorder.has_failed = True
        say(str(error))
    recorder.stop()
    ending.code = program.exit_code(failure)
    if isinstance(failure, KeyboardInterrupt):
        ending.is_interrupt = True
        end_of_interrupt(failure)
    sys.exit(ending.code)


class _Ending:
    """What follows the program, once its exit handlers have run and its processes have ended.

    Made before the program runs: exit handlers that are registered first are called last.
    """

    def __init__(self, asked: argparse.Namespace, wish: Wish, recorder: Recorder) -> None:
        self.code = 0
        self.is_interrupt = False
        self._is_over = False
        self._asked = asked
        self._wish = wish
        self._recorder = recorder
        self._job = current_job()
        self._process = os.getpid()
        self._held = ExitStack()
        temporary = self._held.enter_context(kept_log())
        self._held.enter_context(run_directory.provisional(asked.profile_dir))
        atexit.register(self._end)
        if asked.profile:
            record_children(wish, temporary / "wish.json")
            tell_of_unreachable()
            save_at_sigterm(self._stopped)
            save_at_os_exit(self._leaves)

    def _stopped(self, signal: Stopped) -> None:
        """At a signal that ends the process."""
        with self._held:
            self._recorder.end(signal)
            self._report()

    def _leaves(self, status: int) -> None:
        """At `os._exit`, also that of a fork."""
        self.code = status
        self._recorder.end_on_main_thread()
        self._end()

    def _end(self) -> None:
        if os.getpid() != self._process:
            self._held.close()  # which leaves all to the parent
            return
        if self._is_over:
            return
        self._is_over = True
        record_nothing()
        with self._held:
            code = 0
            if self._asked.profile:
                try:
                    if runs := self._report():
                        _add(self._asked, runs, self._wish.name)
                    code = 0 if runs else 1
                except CaptureError as error:
                    say(str(error))
                    code = 1
        if code and not self.code:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        if self.is_interrupt:
            remember_interrupt()

    def _report(self) -> list[Path]:
        """Says what was recorded, and where, and what was not. Returns the runs with profiles."""
        directories = number(
            self._asked.profile_dir, self._wish.name, self._wish.program, self._job
        )
        runs = [directory for directory in directories if has_profile(directory)]
        if rank():
            return runs
        running, ended = unfinished(self._asked.profile_dir, self._wish.program)
        for process in running:
            say(f"process {process} is still running; its files will have no rank in their names")
        for process in ended:
            say(f"process {process} ended before it wrote its files")
        for run in runs:
            for line in summary(run):
                say(line)
        if not runs and not self._recorder.has_failed:
            say(f"nothing was recorded: {self._why_nothing(bool(directories), bool(ended))}")
        return runs

    def _why_nothing(self, is_described: bool, has_lost: bool) -> str:
        if is_described:
            return NO_STEP
        if has_lost or was_unreachable():
            return IN_A_PROCESS
        if self._recorder.other_threads:
            return OTHER_THREADS
        return NO_CALL if "torch" in sys.modules else NO_TORCH


def _add(asked: argparse.Namespace, runs: list[Path], name: str) -> None:
    """Adds the runs to a store, and opens the dashboard on the one called `name` if asked to."""
    store = asked.ingest
    if store is None and asked.open:
        store = ""
    directories = list(map(str, runs))
    if store is None:
        say(f"next        {shlex.join(['ingest', 'add', *directories])}")
        return
    options = ["--store", store] if store else []
    added = [sys.executable, "-m", "ingest", "add", *directories, *options]
    if subprocess.run(added, stdout=sys.stderr, check=False).returncode:
        raise CaptureError("ingest add failed")
    if asked.open:
        app = Path(__file__).parents[2] / "dashboard" / "app.py"
        subprocess.run(
            [sys.executable, "-m", "streamlit", "run", str(app), "--", *options, "--run", name],
            stdout=sys.stderr,
            check=False,
        )
