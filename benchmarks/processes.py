"""Measuring of complete processes: time, processor time and memory."""

import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

POLL_SECONDS = 0.02


class Measured(NamedTuple):
    """A complete process: its time and processor time in s, its peak RSS in bytes, its output.

    Processor time and RSS include child processes.
    """

    seconds: float
    processor_seconds: float
    peak_bytes: int
    output: str


def measure(command: Sequence[object], **environment: str) -> Measured:
    """Run a command. Exit with its errors if it fails."""
    words = list(map(str, command))
    before, began = processor_seconds(resource.RUSAGE_CHILDREN), time.perf_counter()
    # Into files: a process that prints much would wait for a reader of its pipe.
    with (
        tempfile.TemporaryFile("w+") as printed_to,
        tempfile.TemporaryFile("w+") as errors_to,
        subprocess.Popen(
            words,
            stdout=printed_to,
            stderr=errors_to,
            env={**os.environ, **environment},
            text=True,
        ) as process,
    ):
        peak = wait_and_measure_rss(process)
        seconds = time.perf_counter() - began
        printed, errors = (file.seek(0) or file.read() for file in (printed_to, errors_to))
    if process.returncode:
        raise SystemExit(f"{' '.join(words)}: {errors}")
    used = processor_seconds(resource.RUSAGE_CHILDREN) - before
    return Measured(seconds, used, peak, printed)


def processor_seconds(who: int = resource.RUSAGE_SELF) -> float:
    """Return the processor time, user and system, of this process or of its ended children, s."""
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def wait_and_measure_rss(process: subprocess.Popen[str]) -> int:
    """Wait for a process. Return the peak RSS of the process and its descendants in bytes."""
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(map(rss, descendants(process.pid))))
        time.sleep(POLL_SECONDS)
    return peak


def descendants(pid: int) -> Iterator[int]:
    yield pid
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            for child in children.read_text().split():
                yield from descendants(int(child))
        except OSError:
            continue  # the process has ended


def rss(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
