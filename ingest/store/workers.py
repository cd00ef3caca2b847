"""Work on many runs, each in a process that may die without harm, with one account of the progress.

Also a single run is worked on by a process of its own: DuckDB may take seconds to notice Ctrl-C,
and a process that is out of memory takes no other with it. The processes are forks: each begins
with what this one has imported, which takes longer than to add a small trace.
"""

import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Generic, NoReturn, TypeVar

from ingest.errors import IngestError
from ingest.pipeline import AddOptions
from ingest.signals import deferred
from ingest.store.store import Added, Store
from ingest.store.upkeep import rebuild

PARENT_SECONDS = 0.2  # how often a process looks whether its parent lives

Item = TypeVar("Item", str, Path)
Outcome = TypeVar("Outcome")
Work = Callable[[Item, int | None, Callable[[int], None]], Outcome]


def add_all(
    store: Store,
    paths: Sequence[Path],
    options: AddOptions,
    jobs: int = 1,
    progress: Callable[[Path, int], None] | None = None,
) -> Generator[tuple[Path, Added | IngestError], None, None]:
    """Adds each path as a run; yields what became of it, as it becomes known.

    `progress` hears of a path how many bytes of its files have been read. Closing the iterator
    ends the processes at once.
    """

    def add(path: Path, threads: int | None, report: Callable[[int], None]) -> Added:
        return store.add(path, options, threads, report)

    try:
        yield from in_processes(paths, add, jobs, progress)
    finally:
        with deferred():  # an impatient user may interrupt twice
            store.sweep()


def rebuild_all(
    store: Store,
    run_ids: Sequence[str],
    jobs: int = 1,
    progress: Callable[[str, int], None] | None = None,
) -> Generator[tuple[str, IngestError | None], None, None]:
    """Builds each run again from its files; yields what became of it, as it becomes known.

    `progress` and closing the iterator are as for `add_all`.
    """

    def build(run_id: str, threads: int | None, report: Callable[[int], None]) -> None:
        rebuild(store, run_id, threads, report)

    try:
        yield from in_processes(run_ids, build, jobs, progress)
        store.drop_unused_versions()
    finally:
        with deferred():
            store.sweep()


def in_processes(
    items: Sequence[Item],
    work: Work[Item, Outcome],
    jobs: int = 1,
    progress: Callable[[Item, int], None] | None = None,
) -> Generator[tuple[Item, Outcome | IngestError], None, None]:
    """Does `work` for each item; yields what it returns or raises, as it becomes known.

    As many processes as `jobs` share the items and the processors. `work` gets an item, the number
    of threads that it may use (None: all), and a function to report progress to. An error of any
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
                heard = worker.hear()
                if isinstance(heard, int):
                    if progress:
                        progress(worker.item, heard)
                    continue
                worker.end()
                workers.remove(worker)
                yield worker.item, heard
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
            stream.flush()  # what is written already is not to be written by both
        try:
            self._process = os.fork()
        except OSError as error:
            raise IngestError(f"cannot start a process: {error.strerror}") from error
        if not self._process:
            self.connection.close()
            _work(end, parent, lambda: work(item, threads, end.send), item)
        end.close()  # only the process holds it now: its death is the end of what can be heard

    def hear(self) -> int | Outcome | IngestError:
        """The next message: progress, or what became of the item."""
        try:
            heard: int | Outcome | IngestError = self.connection.recv()
            return heard
        except (EOFError, OSError):
            return IngestError(f"{self.item}: its process {self._how_it_ended()}")

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
            os.kill(self._process, signal.SIGKILL)  # done, or no longer wanted
            os.waitpid(self._process, 0)
            self._process = 0


def _work(
    connection: Connection, parent: int, work: Callable[[], object], item: object
) -> NoReturn:
    """What a process does; it never returns to what its parent was about to do."""
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        threading.Thread(target=_end_with, args=[parent], daemon=True).start()
        with suppress(BrokenPipeError):  # nobody is there any more
            connection.send(_outcome(work, item))
    finally:
        os._exit(0)


def _outcome(work: Callable[[], object], item: object) -> object:
    try:
        return work()
    except IngestError as error:
        return error
    except Exception as error:  # one input that nobody foresaw must not cost the others
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        return IngestError(f"{item}: {reason}")


def _end_with(parent: int) -> None:
    """In a thread: a parent that is killed can end nobody."""
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    os._exit(1)
