"""One process of a sweep: started, ended at a time limit, and why it failed."""

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
SAID, TRACEBACK = "capture: ", "Traceback (most recent call last)"
GRACE_S = 5
IS_OVER = (ProcessLookupError, PermissionError)  # macOS says the latter of a zombie


def run(
    command: Sequence[str],
    log: Path,
    limit_s: float,
    environment: Mapping[str, str],
    held: Sequence[int] = (),
) -> str | None:
    """Runs a command, whose output goes to the file `log`; returns why it failed, None if not.

    It and the processes that it starts are ended after `limit_s` seconds, and where this one is
    interrupted. It holds the files `held` open. Raises CaptureError where `log` cannot be written.
    """
    try:
        output = log.open("wb")
    except OSError as error:
        raise CaptureError(f"cannot write {log}: {error.strerror or error}") from error
    process = None
    with output:
        try:
            with _uninterrupted():  # a process that is not known yet could not be ended
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, **environment},
                    start_new_session=True,
                    pass_fds=held,
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
    """A signal that comes in the body interrupts at its end."""
    received: list[int] = []
    numbers = (signal.SIGINT, *SIGNALS)
    before = {number: signal.getsignal(number) for number in numbers}
    heeded = [number for number, handler in before.items() if callable(handler)]
    for number in heeded:
        signal.signal(number, lambda number, _: received.append(number))
    try:
        yield
    finally:
        for number in heeded:
            signal.signal(number, before[number])
        if received:
            raise KeyboardInterrupt


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends what is left of the process and its group, also where this is interrupted."""
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
    """What `capture` says last, or the error of the last traceback."""
    reason = None
    in_frames = False
    for line in text.splitlines():
        if line.startswith(TRACEBACK):
            in_frames = True
        elif in_frames and line.strip() and not line.startswith(" "):
            reason, in_frames = line, False
        elif line.startswith(SAID):
            reason = line.removeprefix(SAID)
    return reason and reason.strip()[:LONGEST_REASON]
