"""A dashboard served as users do, by a process that ends with the tests."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[2]
APP = ROOT / "dashboard" / "app.py"
PATIENCE_S = 60

# Only the process of the tests holds the other end of this process's stdin. When that process ends
# for any reason, the read returns.
PROGRAM = """
import os, sys, threading

def end_with_the_tests():
    sys.stdin.read()
    os._exit(0)

threading.Thread(target=end_with_the_tests, daemon=True).start()
from streamlit.web.cli import main
main()
"""


@contextmanager
def served(
    store: Path,
    *more: str,
    run: str = "",
    directory: Path = ROOT,
    output: IO[bytes] | None = None,
    **environment: str,
) -> Iterator[str]:
    """Serve the dashboard on a store, and yield its address on this machine.

    `more` are options of `streamlit run`, which starts in `directory`. The dashboard opens with the
    run named `run`. The file `output` gets what the process prints. `environment` are its
    environment variables.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--server.headless=true", f"--server.port={port}", "--server.fileWatcherType=none"]
    printed = output or subprocess.DEVNULL
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            PROGRAM,
            "run",
            str(APP),
            *options,
            *more,
            "--",
            *("--store", str(store)),
            *(("--run", run) if run else ()),
        ],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stdin=subprocess.PIPE,
        stdout=printed,
        stderr=printed,
    )
    try:
        _wait_for(f"http://127.0.0.1:{port}/_stcore/health", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.communicate()  # closes its stdin, which ends it


def _wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < end:
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"{address} does not answer")
