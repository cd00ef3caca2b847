"""Runs one process of a sweep with a time limit, and finds out why it failed."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from capture.errors import CaptureError
from capture.sigterm import SIGNALS

LONGEST_REASON = 300
MESSAGE, TRACEBACK = "capture: ", "Traceback (most recent call last)"
GRACE_S = 5
IS_OVER = (ProcessLookupError, PermissionError)  # macOS raises the latter for a zombie


def run(
    command: Sequence[str],
    log: Path,
    limit_s: float,
    environment: Mapping[str, str],
    open_files: Sequence[int] = (),
) -> str | None:
    """Run a command with its output in the file `log`. Return the reason of a failure, else None.

    The process and its children are ended after `limit_s` seconds, or if this process is
    interrupted. They inherit the file descriptors `open_files`. Raises CaptureError if `log` cannot
    be written.
    """
    try:
        output = log.open("wb")
    except OSError as error:
        raise CaptureError(f"cannot write {log}: {error.strerror or error}") from error
    process = None
    with output:
        try:
            with _uninterrupted():  # otherwise an interrupt could leave a process that nobody ends
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, **environment},
                    start_new_session=True,
                    pass_fds=open_files,
                )
            code = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            return f"ended at the time limit of {limit_s:g} s"
        finally:
            if process:
                _end(process)
    if not code:
        return None
    if code < 0:
        return _signal(-code)
    return _reason(log.read_text(encoding="utf-8", errors="replace")) or f"exit code {code}"


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Delay interrupting signals until the end of the body."""
    received: list[int] = []
    numbers = (signal.SIGINT, *SIGNALS)
    before = {number: signal.getsignal(number) for number in numbers}
    handled = [number for number, handler in before.items() if callable(handler)]
    for number in handled:
        signal.signal(number, lambda number, _: received.append(number))
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, before[number])
        if received:
            raise KeyboardInterrupt


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and its group, even if this is interrupted."""
    try:
        with suppress(*IS_OVER):
            os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)
    finally:
        with suppress(*IS_OVER):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _signal(number: int) -> str:
    try:
        return f"ended by {signal.Signals(number).name}"
    except ValueError:
        return f"ended by signal {number}"


def _reason(text: str) -> str | None:
    """Return the last message of `capture` or the error of the last traceback."""
    reason = None
    in_frames = False
    for line in text.splitlines():
        if line.startswith(TRACEBACK):
            in_frames = True
        elif in_frames and line.strip() and not line.startswith(" "):
            reason, in_frames = line, False
        elif line.startswith(MESSAGE):
            reason = line.removeprefix(MESSAGE)
    return reason and reason.strip()[:LONGEST_REASON]
