"""The console: queries, each in one of a few processes that are kept for the next."""

import threading
import time
import weakref
from contextlib import suppress
from pathlib import Path

from ingest.console.result import Result, narrow
from ingest.console.worker import Worker
from ingest.errors import QueryError
from ingest.store.store import Store, default_store


class Console:
    """Queries on a store that can neither change it nor read anything else.

    Each runs in a process of its own, so that none can take the caller's time or memory: DuckDB
    looks at its limits between vectors of rows, and one giant value, such as
    `list_sort(range(200000000))`, passes them all until it is made.

    `seconds` and `memory`, in bytes, limit each query, `rows` and `size`, in bytes, its result.
    As many queries as there are `processes` run at once; others wait for one of these to end.
    Safe to use from several threads.
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
        self._process = (Store(store or default_store()).path, memory, rows, size)
        self._idle: list[Worker] = []
        self._places = threading.BoundedSemaphore(processes)
        weakref.finalize(self, _end_all, self._idle)

    def query(self, text: str) -> Result:
        """The rows of one SELECT. Raises QueryError, with the reason, for anything else."""
        if not self._places.acquire(timeout=2 * self.seconds):
            raise QueryError("Too many queries are running; try again in a moment.")
        try:
            worker = self._idle_worker() or Worker(*self._process)
            started = time.perf_counter()
            try:
                table, cut_at = worker.ask(text, self.seconds)
            finally:
                if worker.lives:
                    self._idle.append(worker)
        finally:
            self._places.release()
        return Result(narrow(table), time.perf_counter() - started, cut_at)

    def _idle_worker(self) -> Worker | None:
        """One that waits; those that somebody else has ended meanwhile are left behind."""
        with suppress(IndexError):
            while True:
                worker = self._idle.pop()
                if worker.lives:
                    return worker
                worker.end()
        return None


def _end_all(workers: list[Worker]) -> None:
    for worker in workers:
        worker.end()
