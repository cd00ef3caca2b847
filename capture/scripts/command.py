"""The command that profiles a program as it is: no line of it changes."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path

from capture.errors import CaptureError, say
from capture.output import run_directory
from capture.output.ranks import rank
from capture.recording.arguments import create_profiler_from_args
from capture.scripts.program import Program, end_of_fork, end_of_interrupt, exit_code
from capture.scripts.recorder import Recorder
from capture.scripts.signals import saved_at_sigterm
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
    asked.profile_dir = run_directory.choose(asked.out or asked.profile_dir, name, rank())
    profiler = create_profiler_from_args(asked, name)
    profiler.describe(arguments={"command": command})
    recorder = Recorder(profiler, asked.from_start)
    process = os.getpid()
    failure: BaseException | None = None
    with run_directory.provisional(asked.profile_dir):
        with recorder.hooks(), saved_at_sigterm(recorder.end):
            try:
                program.run()
            except BaseException as error:
                failure = error
            if os.getpid() != process:
                end_of_fork(exit_code(failure))
            try:
                recorder.end(failure)
            except CaptureError as error:
                recorder.has_failed = True
                say(str(error))
        code = exit_code(failure)
        if profiler.run and run_directory.rank_path(asked.profile_dir, rank()).exists():
            _report(asked, profiler.run, asked.profile_dir)
        elif asked.profile:
            if not recorder.has_failed:
                say(OTHER_THREADS if recorder.other_threads else NOTHING)
            code = code or 1
    if isinstance(failure, KeyboardInterrupt):
        end_of_interrupt(failure)
    sys.exit(code)


def _report(asked: argparse.Namespace, run: dict[str, object], directory: Path) -> None:
    """Prints the summary; adds the run to a store and opens the dashboard if asked to."""
    if rank():
        return
    for line in summary(run, directory):
        say(line)
    store = asked.ingest
    if store is None and asked.open:
        store = ""
    if store is None:
        say(f"next        ingest add {shlex.quote(str(directory))}")
        return
    options = ["--store", store] if store else []
    added = [sys.executable, "-m", "ingest", "add", str(directory), *options]
    if subprocess.run(added, stdout=sys.stderr, check=False).returncode:
        raise CaptureError("ingest add failed")
    if asked.open:
        app = Path(__file__).parents[2] / "dashboard" / "app.py"
        subprocess.run(
            [sys.executable, "-m", "streamlit", "run", str(app), "--", *options],
            stdout=sys.stderr,
            check=False,
        )
