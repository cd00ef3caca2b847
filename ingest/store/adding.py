"""Adding and rebuilding of many runs in worker processes, with progress reports."""

from collections.abc import Callable, Generator, Sequence
from pathlib import Path

from ingest.conversion import AddOptions
from ingest.errors import IngestError
from ingest.signals import deferred
from ingest.store.connection import AnyStore
from ingest.store.lake.adding import add_to_lake, rebuild_in_lake
from ingest.store.lake.lake import Lake
from ingest.store.store import Added
from ingest.store.upkeep import rebuild
from ingest.store.workers import in_processes


def add_all(
    store: AnyStore,
    paths: Sequence[Path],
    options: AddOptions,
    jobs: int = 1,
    progress: Callable[[Path, int], None] | None = None,
) -> Generator[tuple[Path, Added | IngestError], None, None]:
    """Add each path as a run. Yield each path with its outcome, as soon as it is known.

    `progress` is called with a path and the number of bytes of its files read so far. Closing the
    iterator ends the processes at once.
    """

    if isinstance(store, Lake):
        yield from add_to_lake(store, paths, options, jobs, progress)
        return

    def add(path: Path, threads: int | None, report: Callable[[int], None]) -> Added:
        return store.add(path, options, threads, report)

    try:
        yield from in_processes(paths, add, jobs, progress)
    finally:
        with deferred():  # the user may press Ctrl-C twice
            store.sweep()


def rebuild_all(
    store: AnyStore,
    run_ids: Sequence[str],
    jobs: int = 1,
    progress: Callable[[str, int], None] | None = None,
) -> Generator[tuple[str, IngestError | None], None, None]:
    """Rebuild each run from its original files. Yield each run's id with its error, or None.

    `progress` and closing the iterator work as in `add_all`.
    """

    if not run_ids:  # the store may be read-only
        return
    if isinstance(store, Lake):
        yield from rebuild_in_lake(store, run_ids, jobs, progress)
        return

    def build(run_id: str, threads: int | None, report: Callable[[int], None]) -> None:
        rebuild(store, run_id, threads, report)

    try:
        yield from in_processes(run_ids, build, jobs, progress)
    finally:
        with deferred():
            store.sweep()
