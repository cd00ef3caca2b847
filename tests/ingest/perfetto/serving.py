"""`ingest open`, as users run it."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def opened(*arguments: object) -> Iterator[str]:
    """Run `ingest open`, yield the address of its routes, and end it with Ctrl-C."""
    command = [sys.executable, "-m", "ingest", "open", "--no-browser", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        yield process.stdout.readline().split()[0].removesuffix("/view")
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert (process.returncode, errors) == (0, "")
