"""A process that answers queries, seen from outside: it is asked, and ended when late."""

import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from ingest.errors import QueryError

OUT_OF_MEMORY = 3  # exit code of the process

START_SECONDS = 60.0  # a loaded machine takes its time to start a process
KEPT = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "TZ")  # of the environment, which holds secrets
POOL = {"ARROW_DEFAULT_MEMORY_POOL": "system"}  # the default one reserves what the limit counts


class Worker:
    """A process with a store open. It serves one thread at a time."""

    def __init__(self, store: Path, memory: int, rows: int, size: int) -> None:
        limits = map(str, (memory, rows, size))
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        # Not multiprocessing: it would run the caller's main module, a Streamlit app, once more.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "ingest.console.child", str(store), *limits],
            env={**environment, **POOL, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the caller, who ends it
        )
        header, _ = self._exchange(None, START_SECONDS)
        if "error" in header:
            self.end()
            raise QueryError(header["error"])

    @property
    def lives(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def ask(self, text: str, seconds: float) -> tuple[pa.Table, str]:
        """The rows of a query, and the limit that cut them off.

        Raises QueryError, after which it may have ended.
        """
        header, body = self._exchange(text, seconds)
        if "error" in header:
            raise QueryError(header["error"])
        return pa.ipc.open_stream(body).read_all(), header["cut_at"]

    def end(self) -> None:
        """Ends it, whatever it is doing."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
        with suppress(BrokenPipeError):
            self._process.stdin.close()

    def _exchange(self, text: str | None, seconds: float) -> tuple[dict[str, Any], bytes]:
        """Sends a query, if any, and reads an answer. What goes wrong ends the process."""
        late = threading.Event()

        def stop() -> None:
            late.set()
            self._process.kill()

        timer = threading.Timer(seconds, stop)
        timer.start()
        try:
            answer = self._sent_and_read(text)
        except BaseException:
            self.end()  # or the next to ask would read the rest of this answer
            raise
        finally:
            timer.cancel()
            timer.join()
        if late.is_set():
            self.end()
            raise QueryError(
                f"Stopped after {seconds:g} s. Narrow the query, by run_id for instance."
            )
        if answer is None:
            code = self._process.wait()
            self.end()
            raise QueryError(_why_ended(code))
        return answer

    def _sent_and_read(self, text: str | None) -> tuple[dict[str, Any], bytes] | None:
        """None when the process ends before it has answered."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            if text is not None:
                self._process.stdin.write(json.dumps(text).encode() + b"\n")
                self._process.stdin.flush()
            line = self._process.stdout.readline()
            if not line.endswith(b"\n"):
                return None
            header = json.loads(line)
            body = self._process.stdout.read(header["bytes"])
        except BrokenPipeError:
            return None
        return (header, body) if len(body) == header["bytes"] else None


def _why_ended(code: int) -> str:
    """In words; the system itself ends a process, with a signal, when the machine has no memory."""
    if code in (OUT_OF_MEMORY, -6, -9):
        return "Stopped: the query needs more memory than it may use."
    return f"Stopped: the query ended the process that ran it (exit code {code})."
