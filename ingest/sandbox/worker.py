"""A handle on a worker process: sends it queries, and kills it after a timeout."""

import json
import os
import re
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any

import pyarrow as pa

from ingest.errors import QueryError
from ingest.store.place import is_url

OUT_OF_MEMORY = 3  # exit code of the process

START_SECONDS = 60.0  # time for a process to start on a loaded machine
# The environment variables that the process gets. Others may hold secrets.
KEPT = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "TZ")
# Those that access to a store at a URL may need. Queries cannot read variables.
CREDENTIAL = re.compile("AWS_|GOOGLE_|AZURE_|HOME$")
# Arrow's default pool reserves memory that would count towards the limit.
POOL = {"ARROW_DEFAULT_MEMORY_POOL": "system"}


class Worker:
    """A process with a store open. It serves one thread at a time."""

    def __init__(self, store: str, memory: int, rows: int, size: int) -> None:
        limits = map(str, (memory, rows, size))
        kept = [*KEPT, *(name for name in os.environ if is_url(store) and CREDENTIAL.match(name))]
        environment = {name: os.environ[name] for name in kept if name in os.environ}
        # multiprocessing would run the caller's main module, a Streamlit app, once more.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "ingest.sandbox.child", store, *limits],
            env={**environment, **POOL, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # only the caller receives Ctrl-C, and ends this process
        )
        header, _ = self._exchange(None, START_SECONDS)
        if "error" in header:
            self.end()
            raise QueryError(header["error"])

    @property
    def is_alive(self) -> bool:
        """Whether the process runs and can take a query."""
        return self._process.poll() is None

    def ask(self, text: str, seconds: float) -> tuple[pa.Table, str]:
        """Return the rows of a query, and the limit that cut them off, or an empty text.

        Raise QueryError if the query fails. The process may have ended then.
        """
        header, body = self._exchange(text, seconds)
        if "error" in header:
            raise QueryError(header["error"])
        return pa.ipc.open_stream(body).read_all(), header["cut_at"]

    def end(self) -> None:
        """Kill the process, even if a query is running."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
        with suppress(BrokenPipeError):
            self._process.stdin.close()

    def _exchange(self, text: str | None, seconds: float) -> tuple[dict[str, Any], bytes]:
        """Send a query, if any, and read an answer. Any failure ends the process."""
        late = threading.Event()

        def stop() -> None:
            late.set()
            self._process.kill()

        timer = threading.Timer(seconds, stop)
        timer.start()
        try:
            answer = self._sent_and_read(text)
        except BaseException:
            self.end()  # otherwise the next query would read the rest of this answer
            raise
        finally:
            timer.cancel()
            timer.join()
        if late.is_set():
            self.end()
            raise QueryError(
                f"Stopped after {seconds:g} s. Narrow the query, for instance by run_id."
            )
        if answer is None:
            code = self._process.wait()
            self.end()
            raise QueryError(_why_ended(code))
        return answer

    def _sent_and_read(self, text: str | None) -> tuple[dict[str, Any], bytes] | None:
        """Return the answer, or None if the process ends before its answer is complete."""
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
    """Return a message for the exit code of a worker process."""
    if code in (OUT_OF_MEMORY, -6, -9):  # the system kills with signals when memory runs out
        return "Stopped: the query exceeded its memory limit."
    return f"Stopped: the query ended the process that ran it (exit code {code})."
