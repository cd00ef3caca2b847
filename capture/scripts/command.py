"""The command that profiles a program as it is: no line of it changes."""

from __future__ import annotations

import argparse
import atexit
import os
import shlex
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from capture.errors import CaptureError, say
from capture.output import run_directory
from capture.output.processes import Child, number, unfinished
from capture.output.ranks import rank, world_size
from capture.recording.arguments import create_profiler_from_args
from capture.recording.compilation import kept_log
from capture.recording.profiler import Profiler
from capture.scripts.children import record_children, record_nothing, tell_of_unreachable
from capture.scripts.endings import save_at_sigterm
from capture.scripts.program import Program, end_of_interrupt, exit_code
from capture.scripts.recorder import Recorder
from capture.scripts.summary import summary

NOTHING = (
    "nothing was recorded: the main thread called no torch.nn.Module and compiled nothing; "
    "--from-start records everything from the import of torch on"
)
OTHER_THREADS = (
    "nothing was recorded: other threads called modules, but not the main thread, on which a "
    "recording begins and ends; --from-start records all threads"
)


def profile_script(asked: argparse.Namespace, command: list[str]) -> None:
    """Runs `command`, a script or `-m module` with arguments, and records it.

    Its output and exit code are its own; what capture has to say goes to stderr. Raises
    CaptureError where there is no such program, and SystemExit at its end.
    """
    program = Program.of(command)
    name = run_directory.file_name(asked.profile_name or program.name)
    asked.profile_dir = run_directory.choose(asked.out or asked.profile_dir, name, f"rank{rank()}")

    def profiler() -> Profiler:
        made = create_profiler_from_args(asked, name)
        made.describe(arguments={"command": command})
        return made

    child = Child(os.getpid(), os.environ.get("RANK"))
    recorder = Recorder(profiler, asked.from_start, child)
    ending = _Ending(asked, name, recorder)
    if asked.profile:
        record_children(child, {"name": name, "command": command, "options": vars(asked)})
        tell_of_unreachable()
        save_at_sigterm(ending.save)
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
    ending.code = exit_code(failure)
    if isinstance(failure, KeyboardInterrupt):
        end_of_interrupt(failure)
    sys.exit(ending.code)


class _Ending:
    """What follows the program, once its exit handlers have run and its processes have ended."""

    def __init__(self, asked: argparse.Namespace, name: str, recorder: Recorder) -> None:
        self.code = 0
        self._asked = asked
        self._name = name
        self._recorder = recorder
        self._process = os.getpid()
        self._held = ExitStack()
        self._held.enter_context(kept_log())
        self._held.enter_context(run_directory.provisional(asked.profile_dir))
        atexit.register(self._end)

    def save(self) -> None:
        """Ends the recording, and writes what there is."""
        self._recorder.end()
        self._runs()

    def _end(self) -> None:
        if os.getpid() != self._process:
            return
        record_nothing()
        try:
            code = self._report() if self._asked.profile else 0
        except CaptureError as error:
            say(str(error))
            code = 1
        self._held.close()
        if code and not self.code:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _report(self) -> int:
        """Says what was recorded, and where, and what was not. Returns an exit code."""
        runs = self._runs()
        if rank():
            return 0 if runs else 1
        running, ended = unfinished(self._asked.profile_dir, self._process)
        for process in running:
            say(f"process {process} still records: its files follow, without a rank")
        for process in ended:
            say(f"process {process} ended before it wrote its files")
        for run in runs:
            for line in summary(run):
                say(line)
        if not runs:
            if not self._recorder.has_failed:
                say(OTHER_THREADS if self._recorder.other_threads else NOTHING)
            return 1
        _add(self._asked, runs)
        return 0

    def _runs(self) -> list[Path]:
        return number(self._asked.profile_dir, self._name, self._process, world_size())


def _add(asked: argparse.Namespace, runs: list[Path]) -> None:
    """Adds the runs to a store and opens the dashboard if asked to."""
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
            [sys.executable, "-m", "streamlit", "run", str(app), "--", *options],
            stdout=sys.stderr,
            check=False,
        )
