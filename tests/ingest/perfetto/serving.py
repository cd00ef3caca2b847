"""`ingest open` as users run it."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def opened(*arguments: object) -> Iterator[str]:
    """The address of the traces that `ingest open` serves; then Ctrl-C, which ends it well."""
    command = [sys.executable, "-m", "ingest", "open", "--no-browser", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        yield process.stdout.readline().split()[0].removesuffix("/view")
    finally:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (0, "")
