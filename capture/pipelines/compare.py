"""The command that profiles a pipeline eager and compiled, each in a process of its own."""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from capture.errors import CaptureError
from capture.output import run_directory


def compare(asked: argparse.Namespace, given: Sequence[str]) -> None:
    """Runs `given`, a pipeline's command with its options, as `eager` and as `compiled`.

    Both become run directories in the one that was asked for; prints their paths.
    """
    if not asked.profile:
        raise CaptureError("compare is about two profiles: without --no-profile")
    name = asked.profile_name or (f"{asked.kind}-tiny" if asked.tiny else Path(asked.model).name)
    parent = run_directory.choose(asked.out or asked.profile_dir, name, "rank0")
    run_directory.check_empty(parent)
    for mode, flag in (("eager", "--eager"), ("compiled", "--compile")):
        print(f"{mode}:", file=sys.stderr)
        command = [sys.executable, "-m", "capture", *given, flag, "--out", str(parent / mode)]
        if subprocess.run([*command, "--profile-name", f"{name}-{mode}"], check=False).returncode:
            raise CaptureError(f"the {mode} run failed")
