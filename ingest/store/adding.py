"""Conversion of the paths whose files a store does not have yet."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ingest.conversion import AddOptions
from ingest.errors import IngestError, StoreError
from ingest.store import run_ids
from ingest.store.known import NOTHING, Known, sizes_of_runs
from ingest.store.storage import Added, Storage
from ingest.store.workers import Workers
from ingest.store.written import NewRun, Read, converting


def convert_new(
    store: Storage,
    paths: Sequence[Path],
    options: AddOptions,
    workers: Workers,
    existing: Callable[[Read], str | None],
    progress: Callable[[Path, float], None] | None = None,
) -> Iterator[tuple[Path, NewRun | Added | IngestError]]:
    """Let workers convert each path. Yield it with a new run, a known one, or an error.

    `existing` returns the id of the store's run with the same files, or None.
    """
    known = Known(run_ids.by_digits(store.run_ids()), sizes_of_runs(store, paths))
    waiting = list(dict.fromkeys(paths))
    while waiting:
        again = []
        for path, outcome in workers.write_all(waiting, converting(options, known), progress):
            if isinstance(outcome, IngestError):
                yield path, outcome
                continue
            try:
                run_id = existing(outcome)
            except StoreError as error:
                outcome.forget()
                yield path, error
                continue
            if run_id:
                outcome.forget()
                yield path, Added(run_id, False, outcome.seconds, [])
            elif isinstance(outcome, NewRun):
                yield path, outcome
            else:  # other files, and by chance the same digits
                again.append(path)
        waiting, known = again, NOTHING
