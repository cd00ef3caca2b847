"""Execution of statements on a scratch database, one or several at a time."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from types import TracebackType
from typing import Concatenate, ParamSpec, TypeVar

import duckdb

P = ParamSpec("P")
T = TypeVar("T")
Work = Callable[Concatenate[duckdb.DuckDBPyConnection, P], T]


class Statements:
    """A pool of `workers` that call functions with a connection to the database.

    A single worker runs in the caller's thread, where DuckDB reacts to Ctrl-C. Several workers have
    a connection each. An exception in the `with` block interrupts running calls and cancels
    waiting ones.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, workers: int) -> None:
        self.workers = workers
        self._connection = connection
        self._cursors = [connection.cursor() for _ in range(workers)] if workers > 1 else []
        self._free: SimpleQueue[duckdb.DuckDBPyConnection] = SimpleQueue()
        for cursor in self._cursors:
            self._free.put(cursor)
        self._pool = ThreadPoolExecutor(workers)

    def submit(self, work: Work[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call `work` with a connection and the arguments. A single worker does so immediately."""
        if self.workers == 1:
            done: Future[T] = Future()
            try:
                done.set_result(work(self._connection, *args, **kwargs))
            except Exception as error:
                done.set_exception(error)
            return done

        def call() -> T:
            cursor = self._free.get()
            try:
                return work(cursor, *args, **kwargs)
            finally:
                self._free.put(cursor)

        return self._pool.submit(call)

    def __enter__(self) -> "Statements":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error:
            self._pool.shutdown(wait=False, cancel_futures=True)
            for cursor in self._cursors:
                cursor.interrupt()
        self._pool.shutdown()
        for cursor in self._cursors:
            cursor.close()
