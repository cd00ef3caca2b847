"""A dashboard served as users do, by a process that ends with the tests."""

import os
import select
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[2]
APP = ROOT / "dashboard" / "app.py"
PATIENCE_S = 600

# Only the process of the tests holds the other end of this process's stdin. When that process ends
# for any reason, the read returns. Each line on stdin is the path of the store to show.
PROGRAM = """
import os, sys, threading
import uvicorn
from streamlit.web.cli import main

answers = os.fdopen(int(sys.argv.pop(1)), "w")

def answer(text):
    print(text, file=answers, flush=True)

def show_stores():
    for line in sys.stdin:
        sys.argv[sys.argv.index("--store") + 1] = line.removesuffix(chr(10))
        answer("shown")
    os._exit(0)

class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        if self.started:
            answer(sockets[0].getsockname()[1])

uvicorn.Server = Server
threading.Thread(target=show_stores, daemon=True).start()
main()
"""


@dataclass(frozen=True)
class Dashboard:
    """A dashboard that answers at `address`."""

    address: str
    _process: subprocess.Popen[str]
    _answers: IO[str]

    def show(self, store: Path) -> str:
        """Show another store on all pages from now on. Return the address."""
        assert self._process.stdin
        print(store, file=self._process.stdin, flush=True)
        assert _answer(self._answers) == "shown", f"{self.address} has ended"
        return self.address


def _answer(answers: IO[str]) -> str:
    """Return the next line that the process answers, or an empty text if it has ended."""
    assert select.select([answers], [], [], PATIENCE_S)[0], "the dashboard does not answer"
    return answers.readline().strip()


@contextmanager
def started(
    store: Path,
    *more: str,
    options: Sequence[str] = (),
    directory: Path = ROOT,
    output: IO[bytes] | None = None,
    **environment: str,
) -> Iterator[Dashboard]:
    """Start a dashboard on a store, at a port that the system picks.

    `more` are options of `streamlit run`, which starts in `directory`, and `options` are those of
    the dashboard. The file `output` gets what the process prints. `environment` are its environment
    variables.
    """
    always = ["--server.headless=true", "--server.port=0", "--server.fileWatcherType=none"]
    printed = output or subprocess.DEVNULL
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", PROGRAM, str(writing)),
            *("run", str(APP), *always, *more, "--", "--store", str(store), *options),
        ],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stdin=subprocess.PIPE,
        stdout=printed,
        stderr=printed,
        pass_fds=[writing],
        text=True,
    )
    os.close(writing)
    try:
        with os.fdopen(reading) as answers:
            port = _answer(answers)
            assert port, "the dashboard does not answer: it has ended"
            yield Dashboard(f"http://127.0.0.1:{port}", process, answers)
    finally:
        process.communicate()  # closes its stdin, which ends it


@contextmanager
def served(
    store: Path,
    *more: str,
    options: Sequence[str] = (),
    directory: Path = ROOT,
    output: IO[bytes] | None = None,
    **environment: str,
) -> Iterator[str]:
    """Serve the dashboard on a store as `started` does, and yield its address on this machine."""
    with started(
        store, *more, options=options, directory=directory, output=output, **environment
    ) as dashboard:
        yield dashboard.address
