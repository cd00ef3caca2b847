"""Adding runs, each in a process that may die without harm, with one account of the progress.

Also a single run is added by a process of its own: DuckDB may take seconds to notice Ctrl-C, and
a process that is out of memory takes no other with it.
"""

import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Generator
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from threading import Thread
from typing import NoReturn

from ingest.errors import IngestError
from ingest.pipeline import AddOptions
from ingest.signals import deferred
from ingest.store.store import Added, Store

Progress = Callable[[Path, int], None]


def add_all(
    store: Store,
    paths: list[Path],
    options: AddOptions,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Generator[tuple[Path, Added | IngestError], None, None]:
    """Adds each path as a run; yields what became of it, as it becomes known.

    As many processes as `jobs` share the paths and the processors. `progress` hears of a path how
    many bytes of its files have been read. Closing the iterator ends the processes at once.
    """
    waiting = deque(paths)
    jobs = min(jobs, len(paths))
    threads = max(1, (os.cpu_count() or 1) // jobs) if jobs > 1 else None
    workers: list[_Worker] = []
    try:
        while waiting or workers:
            while waiting and len(workers) < jobs:
                with deferred():
                    workers.append(_Worker(store.path, options, threads))
                workers[-1].take(waiting.popleft())
            ready = wait([worker.connection for worker in workers])
            for worker in [worker for worker in workers if worker.connection in ready]:
                said = worker.hear()
                if isinstance(said, int):
                    if progress:
                        progress(worker.path, said)
                    continue
                yield worker.path, said
                if waiting and worker.is_alive():
                    worker.take(waiting.popleft())
                else:
                    worker.end()
                    workers.remove(worker)
    finally:
        for worker in workers:
            worker.end()
        store.sweep()


class _Worker:
    """A process that adds one path after the other, and the path it works on."""

    def __init__(self, store: Path, options: AddOptions, threads: int | None) -> None:
        self.path = Path()
        self.connection, end = Pipe()
        try:
            # Not multiprocessing's: that would run the caller's main module once more.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "ingest.store.workers", str(end.fileno())],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                stdin=subprocess.PIPE,  # ends with this process, and the other with it
                pass_fds=[end.fileno()],
            )
        except OSError as error:
            raise IngestError(f"cannot start a process: {error.strerror}") from error
        end.close()  # only the process holds it now: its death is the end of what can be heard
        with suppress(BrokenPipeError):
            self.connection.send((store, options, threads))

    def take(self, path: Path) -> None:
        self.path = path
        with suppress(BrokenPipeError):  # dead already: heard next
            self.connection.send(path)

    def hear(self) -> int | Added | IngestError:
        """The next message: bytes read so far, or what became of the path."""
        try:
            said: int | Added | IngestError = self.connection.recv()
            return said
        except (EOFError, OSError):
            return IngestError(f"{self.path}: not added: its process {self._end()}")

    def _end(self) -> str:
        code = self._process.wait()
        if code >= 0:
            return f"ended with code {code}"
        name = signal.Signals(-code).name
        hint = "; out of memory?" if -code == signal.SIGKILL else ""
        return f"was killed ({name}){hint}"

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def end(self) -> None:
        assert self._process.stdin
        self._process.kill()  # idle, or no longer wanted
        self._process.wait()
        self._process.stdin.close()
        self.connection.close()


def _work(connection: Connection) -> NoReturn:
    Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):  # nobody is there any more
        store, options, threads = connection.recv()
        while True:
            path = connection.recv()
            connection.send(_add(store, path, options, threads, connection.send))
    os._exit(1)


def _end_with_parent() -> None:
    """In a thread: a parent that is killed can end nobody."""
    sys.stdin.buffer.read()
    os._exit(1)


def _add(
    store: Path,
    path: Path,
    options: AddOptions,
    threads: int | None,
    progress: Callable[[int], None],
) -> Added | IngestError:
    try:
        return Store(store).add(path, options, threads, progress)
    except IngestError as error:
        return error
    except Exception as error:  # one input that nobody foresaw must not cost the others
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        return IngestError(f"{path}: {reason}")


if __name__ == "__main__":
    _work(Connection(int(sys.argv[1])))
