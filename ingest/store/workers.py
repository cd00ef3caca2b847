"""Work on runs in worker processes, with progress reports. A worker may die without harm.

A single run gets a worker process too: DuckDB may take seconds to notice Ctrl-C, and a process that
runs out of memory then does not end the others. The workers are forks, so that they need not import
modules again, which takes longer than adding a small trace.
"""

import gc
import os
import signal
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Generic, NoReturn, Protocol, TypeVar

from ingest.errors import IngestError, first_line
from ingest.signals import deferred
from ingest.store.written import NewRun, Packed, Read, Written

PARENT_SECONDS = 0.2  # interval at which a process checks that its parent is alive

Item = TypeVar("Item", str, Path)
Outcome = TypeVar("Outcome")
Work = Callable[[Item, int | None, Callable[[float], None]], Outcome]
# It writes a run to a directory, and gets a number of threads and a function that reports progress.
Writing = Callable[[Item, Path, int | None, Callable[[float], None]], Read]
Content = Mapping[str, Written | Packed]


class Workers(Protocol):
    """Processes that write runs, of this machine or of a cluster."""

    def write_all(
        self,
        items: Sequence[Item],
        work: Writing[Item],
        progress: Callable[[Item, float], None] | None = None,
    ) -> Generator[tuple[Item, Read | IngestError], None, None]:
        """Run `work` on each item. Yield each item with its outcome, as soon as it is known.

        An exception of any kind becomes an IngestError.
        """

    def call(self, function: Callable[[Content], Outcome], runs: Mapping[str, NewRun]) -> Outcome:
        """Return what a function returns for the content of new runs, by id.

        It runs where the content is.
        """

    def fetch(self, run: NewRun) -> Written | Packed:
        """Return the content of a new run here."""


class Processes:
    """Processes of this machine, which write runs to directories in `directory`."""

    def __init__(self, jobs: int, directory: Path) -> None:
        self._jobs = jobs
        self._directory = directory

    def write_all(
        self,
        items: Sequence[Item],
        work: Writing[Item],
        progress: Callable[[Item, float], None] | None = None,
    ) -> Generator[tuple[Item, Read | IngestError], None, None]:
        """Run `work` on each item (`Workers.write_all`)."""

        def write(item: Item, threads: int | None, report: Callable[[float], None]) -> Read:
            directory = self._directory / uuid.uuid4().hex
            directory.mkdir()
            return work(item, directory, threads, report)

        return in_processes(items, write, self._jobs, progress)

    def call(self, function: Callable[[Content], Outcome], runs: Mapping[str, NewRun]) -> Outcome:
        """Call a function in this process (`Workers.call`)."""
        return function({run_id: self.fetch(run) for run_id, run in runs.items()})

    def fetch(self, run: NewRun) -> Written | Packed:
        """Return the run itself."""
        assert isinstance(run, Written)
        return run


def in_processes(
    items: Sequence[Item],
    work: Work[Item, Outcome],
    jobs: int = 1,
    progress: Callable[[Item, float], None] | None = None,
) -> Generator[tuple[Item, Outcome | IngestError], None, None]:
    """Run `work` on each item. Yield each item with the result or error, as soon as it is known.

    Up to `jobs` processes share the items and the processors. `work` gets an item, the number of
    threads that it may use (None: all), and a function that reports progress. An exception of any
    kind becomes an IngestError.
    """
    waiting = deque(items)
    jobs = min(jobs, len(items))
    threads = max(1, (os.cpu_count() or 1) // jobs) if jobs > 1 else None
    workers: list[_Worker[Item, Outcome]] = []
    try:
        while waiting or workers:
            while waiting and len(workers) < jobs:
                with deferred():
                    workers.append(_Worker(waiting.popleft(), work, threads))
            ready = wait([worker.connection for worker in workers])
            for worker in [worker for worker in workers if worker.connection in ready]:
                message = worker.receive()
                if isinstance(message, float):
                    if progress:
                        progress(worker.item, message)
                    continue
                worker.end()
                workers.remove(worker)
                yield worker.item, message
    finally:
        with deferred():
            for worker in workers:
                worker.end()


class _Worker(Generic[Item, Outcome]):
    """A process that works on an item."""

    def __init__(self, item: Item, work: Work[Item, Outcome], threads: int | None) -> None:
        self.item: Item = item
        self.connection, end = Pipe()
        parent = os.getpid()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()  # otherwise both processes would write buffered output
        try:
            self._process = _fork()
        except OSError as error:
            raise IngestError(f"cannot start a process: {error.strerror}") from error
        if not self._process:
            self.connection.close()
            _work(end, parent, lambda: work(item, threads, end.send), item)
        end.close()  # only the process holds it now, so its death closes the pipe

    def receive(self) -> float | Outcome | IngestError:
        """Wait for the next message: progress, the result or an error."""
        try:
            message: float | Outcome | IngestError = self.connection.recv()
            return message
        except (EOFError, OSError):
            return IngestError(f"{self.item}: the worker process {self._how_it_ended()}")

    def _how_it_ended(self) -> str:
        code = os.waitstatus_to_exitcode(os.waitpid(self._process, 0)[1])
        self._process = 0
        if code >= 0:
            return f"ended with code {code}"
        name = signal.Signals(-code).name
        hint = "; out of memory?" if -code == signal.SIGKILL else ""
        return f"was killed ({name}){hint}"

    def end(self) -> None:
        self.connection.close()
        if self._process:
            os.kill(self._process, signal.SIGKILL)  # it has finished, or its result is not needed
            os.waitpid(self._process, 0)
            self._process = 0


def _fork() -> int:
    """Fork this process, as `os.fork` does. The garbage collector of the child ignores old objects.

    They may own threads, which the child does not have. Freeing them would crash it.
    """
    is_collecting = gc.isenabled()
    gc.disable()
    try:
        process = os.fork()
        if not process:
            gc.freeze()
        return process
    finally:
        if is_collecting:
            gc.enable()


def _work(
    connection: Connection, parent: int, work: Callable[[], object], item: object
) -> NoReturn:
    """Run `work` in the forked process, and exit without returning to the parent's code."""
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        threading.Thread(target=_end_with, args=[parent], daemon=True).start()
        with suppress(BrokenPipeError):  # the parent has ended
            connection.send(_outcome(work, item))
    finally:
        os._exit(0)


def _outcome(work: Callable[[], object], item: object) -> object:
    try:
        return work()
    except IngestError as error:
        return error
    except Exception as error:  # an unforeseen error must not affect the other items
        return IngestError(f"{item}: {first_line(error)}")


def _end_with(parent: int) -> None:
    """Exit when the parent dies, because a killed parent cannot end its workers."""
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    os._exit(1)
