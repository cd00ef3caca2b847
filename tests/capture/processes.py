"""Processes that tests start, and how tests wait for them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATIENCE_S = 3600  # after which a test that hangs fails
Finished = subprocess.CompletedProcess[str]


def in_a_new_process(*arguments: str, cwd: Path, **environment: str) -> Finished:
    """Run `python` with these arguments in a new interpreter."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        preexec_fn=with_signals,
    )


def with_signals() -> None:
    """Handle signals as in a terminal. A process in the background ignores Ctrl-C."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for a state that another process reaches."""
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until, "it hangs"
        time.sleep(0.05)
