"""The sandbox: runs queries in a small pool of worker processes."""

import threading
import time
import weakref
from contextlib import suppress
from pathlib import Path

from ingest.errors import QueryError
from ingest.sandbox.result import Result, narrow
from ingest.sandbox.worker import Worker
from ingest.store.opening import opened
from ingest.store.place import default_store


class Sandbox:
    """A sandbox for queries that can neither change a store nor read anything else.

    Queries run in separate processes, so that none can use up the caller's time or memory. DuckDB
    checks its limits only between vectors of rows; a single giant value, such as
    `list_sort(range(200000000))`, is not checked until it is complete.

    `seconds` and `memory` (bytes) limit each query. `rows` and `size` (bytes) limit its result. At
    most `processes` queries run at once; further queries wait. A sandbox may be used from several
    threads.
    """

    def __init__(
        self,
        store: str | Path | None = None,
        seconds: float = 10.0,
        rows: int = 100_000,
        size: int = 64 << 20,
        memory: int = 1 << 30,
        processes: int = 4,
    ) -> None:
        self.seconds = seconds
        self.rows = rows
        self.size = size
        self._process = (str(opened(store or default_store()).path), memory, rows, size)
        self._idle: list[Worker] = []
        self._slots = threading.BoundedSemaphore(processes)
        weakref.finalize(self, _end_all, self._idle)

    def query(self, text: str) -> Result:
        """Return the result of one SELECT.

        Raise QueryError, with the reason, if the query is anything else, fails, exceeds a limit, or
        waits too long for other queries.
        """
        if not self._slots.acquire(timeout=2 * self.seconds):
            raise QueryError("Too many queries are running. Try again in a moment.")
        try:
            worker = self._idle_worker() or Worker(*self._process)
            started = time.perf_counter()
            try:
                table, cut_at = worker.ask(text, self.seconds)
            finally:
                if worker.is_alive:
                    self._idle.append(worker)
        finally:
            self._slots.release()
        return Result(narrow(table), time.perf_counter() - started, cut_at)

    def _idle_worker(self) -> Worker | None:
        """Return an idle worker, or None. Discard idle workers that have died."""
        with suppress(IndexError):
            while True:
                worker = self._idle.pop()
                if worker.is_alive:
                    return worker
                worker.end()
        return None


def _end_all(workers: list[Worker]) -> None:
    for worker in workers:
        worker.end()
