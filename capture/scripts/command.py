"""The command that profiles an unmodified program."""

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
from capture.output.processes import noted_runs, number, unfinished
from capture.output.ranks import current_job, rank
from capture.recording.compilation import kept_log
from capture.scripts.children import (
    Request,
    record_children,
    report_unreachable,
    stop_recording_children,
    was_unreachable,
)
from capture.scripts.endings import save_at_os_exit
from capture.scripts.own_sessions import LOST
from capture.scripts.program import Program, end_of_interrupt, remember_interrupt
from capture.scripts.recorder import Recorder
from capture.scripts.summary import has_dumps, has_profile, summary
from capture.sigterm import Stopped, restore_default, save_at_sigterm

NO_TORCH = "the program did not import torch"
NO_CALL = (
    "the main thread called no torch.nn.Module and compiled nothing; use --from-start to record "
    "everything from the import of torch"
)
OTHER_THREADS = (
    "only other threads called modules, and a recording begins and ends on the main thread; "
    "use --from-start to record all threads"
)
IN_A_PROCESS = "a process of the program could not be recorded, or ended before it wrote its files"
NO_STEP = (
    "the program ended before the first step that the schedule records; lower --skip-first, "
    "--profile-wait or --profile-warmup"
)


def profile_script(args: argparse.Namespace, command: list[str]) -> None:
    """Run and record `command`: a script or `-m module` with arguments.

    The output and exit code of the program are unchanged. Messages of capture go to stderr. Raises
    UsageError if there is no such program, and SystemExit when it ends.
    """
    program = Program.of(command)
    name = run_directory.file_name(args.profile_name or program.name)
    args.profile_dir = run_directory.choose(args.out or args.profile_dir, name, f"rank{rank()}")
    options = {key: value for key, value in vars(args).items() if key.startswith("profile")}
    options["from_start"] = args.from_start
    request = Request(secrets.token_hex(4), name, command, options)
    # A launcher imports torch, too, but is no rank.
    from_start = args.from_start and not program.is_launcher
    recorder = Recorder(request.profiler, from_start, request.program)
    ending = _Ending(args, request, recorder)
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
    """Writes files and a summary after the program, its exit handlers and its processes have ended.

    Create it before the program runs, because exit handlers run in reverse order of registration.
    """

    def __init__(self, args: argparse.Namespace, request: Request, recorder: Recorder) -> None:
        self.code = 0
        self.is_interrupt = False
        self._is_over = False
        self._args = args
        self._request = request
        self._recorder = recorder
        self._job = current_job()
        self._process = os.getpid()
        self._cleanup = ExitStack()
        self._file = self._cleanup.enter_context(kept_log()) / "request.json"
        self._cleanup.enter_context(run_directory.provisional(args.profile_dir))
        atexit.register(self._end)
        if args.profile:
            record_children(request, self._file)
            report_unreachable()
            save_at_sigterm(self._stopped)
            save_at_os_exit(self._leaves)

    def _stopped(self, signal: Stopped) -> None:
        """Save and report at a signal that ends the process."""
        with self._cleanup:
            self._recorder.end(signal)
            self._report()

    def _leaves(self, status: int) -> None:
        """Save and report at `os._exit`, also in a fork."""
        self.code = status
        self._recorder.end_on_main_thread()
        self._end()

    def _end(self) -> None:
        if os.getpid() != self._process:
            self._cleanup.close()  # in a fork, this leaves the files to the parent
            return
        if self._is_over:
            return
        self._is_over = True
        stop_recording_children()
        with self._cleanup:
            code = 0
            if self._args.profile:
                try:
                    if runs := self._report():
                        _add(self._args, runs)
                    # The program's own profiler was its recording, even if torch lost it.
                    code = 0 if runs or self._recorder.has_lost_session else 1
                except CaptureError as error:
                    say(str(error))
                    code = 1
        restore_default()
        if code and not self.code:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        if self.is_interrupt:
            remember_interrupt()

    def _report(self) -> list[Path]:
        """Report on stderr what was recorded. Return the runs with profiles."""
        request = self._request
        directories = number(self._args.profile_dir, request.name, request.program, self._job)
        # The program's own profilers write runs, too.
        found = dict.fromkeys([*directories, *noted_runs(self._file)])
        runs = [directory for directory in found if has_profile(directory)]
        if rank():
            return runs
        running, ended = unfinished(self._args.profile_dir, request.program)
        for process in running:
            say(f"process {process} is still running; the names of its files will contain no rank")
        for process in ended:
            say(f"process {process} ended before it wrote its files")
        for run in runs:
            for line in summary(run):
                say(line)
        if not runs and not self._recorder.has_failed:
            say(f"nothing was recorded: {self._why_nothing(bool(directories), bool(ended))}")
            if has_dumps(self._args.profile_dir):
                say(f"dumps of torch's flight recorder are in {self._args.profile_dir}")
        return runs

    def _why_nothing(self, is_described: bool, has_lost: bool) -> str:
        if self._recorder.has_lost_session:
            return LOST
        if is_described:
            return NO_STEP
        if has_lost or was_unreachable():
            return IN_A_PROCESS
        if self._recorder.other_threads:
            return OTHER_THREADS
        return NO_CALL if "torch" in sys.modules else NO_TORCH


def _add(args: argparse.Namespace, runs: list[Path]) -> None:
    """If requested, add the runs to a store and open the dashboard on the first."""
    store = args.ingest
    if store is None and args.open:
        store = ""
    directories = list(map(str, runs))
    if store is None:
        say(f"next        {shlex.join(['ingest', 'add', *directories])}")
        return
    options = ["--store", store] if store else []
    added = [sys.executable, "-m", "ingest", "add", *directories, *options]
    if _run(added):
        raise CaptureError(f"ingest add failed; the runs are in {', '.join(directories)}")
    if args.open:
        name = run_directory.read_json(runs[0] / "run.json")["name"]
        app = Path(__file__).parents[2] / "dashboard" / "app.py"
        _run([sys.executable, "-m", "streamlit", "run", str(app), "--", *options, "--run", name])


def _run(command: list[str]) -> int:
    """Run a command and return its exit code. A signal that ends this process ends it, too."""
    with subprocess.Popen(command, stdout=sys.stderr) as process:
        save_at_sigterm(lambda _: process.terminate())
        return process.wait()
