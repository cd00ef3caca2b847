"""The command that profiles a pipeline eager and compiled, in separate processes."""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from capture.errors import CaptureError, UsageError
from capture.output import run_directory


def compare(args: argparse.Namespace, argv: Sequence[str]) -> None:
    """Run a pipeline's command eager and compiled, and print both run directories.

    `argv` is the command with its options. The run directories are `eager` and `compiled` in the
    directory of --out. Raises CaptureError if a run fails.
    """
    if not args.profile:
        raise UsageError("compare needs profiles: remove --no-profile")
    name = args.profile_name or (f"{args.kind}-tiny" if args.tiny else Path(args.model).name)
    parent = run_directory.choose(args.out or args.profile_dir, name, "rank0")
    run_directory.check_empty(parent)
    for mode, flag in (("eager", "--eager"), ("compiled", "--compile")):
        print(f"{mode}:", file=sys.stderr)
        command = [sys.executable, "-m", "capture", *argv, flag, "--out", str(parent / mode)]
        if subprocess.run([*command, "--profile-name", f"{name}-{mode}"], check=False).returncode:
            raise CaptureError(f"the {mode} run failed")
