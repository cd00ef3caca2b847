"""Adding many runs, in this process or several, with one account of the progress."""

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

from ingest.errors import IngestError
from ingest.run import RunLabels
from ingest.store import Added, Store

Progress = Callable[[Path, int], None]


def add_all(
    store: Store,
    paths: list[Path],
    labels: RunLabels,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Iterator[tuple[Path, Added | IngestError]]:
    """Adds each path as a run; yields what became of it, as it becomes known.

    With `jobs` > 1, as many processes share the paths and the processors. `progress` hears of a
    path how many bytes of its files have been read.
    """
    report = progress or (lambda path, position: None)
    if jobs == 1 or len(paths) == 1:
        for path in paths:
            yield path, _add(store, path, labels, None, partial(report, path))
        return
    threads = max(1, (os.cpu_count() or 1) // jobs)
    spawn = multiprocessing.get_context("spawn")
    with spawn.Manager() as manager, ProcessPoolExecutor(jobs, mp_context=spawn) as pool:
        positions: Queue[tuple[Path, int] | None] = manager.Queue()
        listener = Thread(target=_listen, args=(positions, report))
        listener.start()
        futures: dict[Future[Added | IngestError], Path] = {
            pool.submit(_work, store.path, path, labels, threads, positions): path for path in paths
        }
        try:
            for future in as_completed(futures):
                path = futures[future]
                failure = future.exception()
                if failure:
                    yield path, IngestError(f"{path}: the worker failed: {failure}")
                else:
                    yield path, future.result()
        finally:
            pool.shutdown(cancel_futures=True)
            positions.put(None)
            listener.join()


def _add(
    store: Store,
    path: Path,
    labels: RunLabels,
    threads: int | None,
    progress: Callable[[int], None],
) -> Added | IngestError:
    try:
        return store.add(path, labels, threads, progress)
    except IngestError as error:
        return error
    except Exception as error:  # one input that nobody foresaw must not cost the others
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        return IngestError(f"{path}: {reason}")


def _work(
    store: Path, path: Path, labels: RunLabels, threads: int, positions: Any
) -> Added | IngestError:
    return _add(Store(store), path, labels, threads, lambda n: positions.put((path, n)))


def _listen(positions: "Queue[tuple[Path, int] | None]", report: Progress) -> None:
    while True:
        heard = positions.get()
        if heard is None:
            return
        report(*heard)
