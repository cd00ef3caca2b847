"""Adding of files as runs, in this process or by the workers of a cluster."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ingest import sql
from ingest.conversion import AddOptions
from ingest.errors import IngestError
from ingest.formats import Format
from ingest.inputs import RunInput, input_path, read_run_input
from ingest.store import run_ids
from ingest.store.adding import convert_new
from ingest.store.directory.files.listing import Listing
from ingest.store.directory.files.locking import sync, writing
from ingest.store.known import Known
from ingest.store.manifest import checksums
from ingest.store.storage import Added, AddOutcomes
from ingest.store.workers import Workers
from ingest.store.written import NewRun, Read, Written, write

if TYPE_CHECKING:
    from ingest.store.directory.store import Store


def add(
    store: "Store",
    path: Path,
    options: AddOptions,
    threads: int | None,
    progress: Callable[[float], None] | None,
    formats: Sequence[Format],
    sizes: frozenset[int] | None,
) -> Added:
    """Add a run directory or file as a run, as `Store.add` does.

    `sizes` are those of the store's runs (`sizes_of_runs`).
    """
    began = time.perf_counter()
    options = options or AddOptions()
    captures = [*map(input_path, options.capture_traces)]
    options = options.without_secrets()
    with writing(store.path) as work, store.catalog_file.written_beside():
        run = read_run_input(path, formats, captures)
        listing = store.now()
        known = Known(run_ids.by_digits(listing.runs), sizes)
        if known.may_have(run) and (existing := _with_content(store.path, run, listing)):
            return Added(existing, False, time.perf_counter() - began, [])
        run_id, is_new = _put(store, write(run, options, work, threads, progress), work)
    return Added(run_id, is_new, time.perf_counter() - began, run.sources if is_new else [])


def add_from(
    store: "Store",
    paths: Sequence[Path],
    options: AddOptions,
    workers: Workers,
    progress: Callable[[Path, float], None] | None,
) -> AddOutcomes:
    """Add each path as a run that other machines write, as `Storage.add_all` does."""

    def existing(read: Read) -> str | None:
        return _with_content(store.path, read, store.now())

    for path, outcome in convert_new(store, paths, options, workers, existing, progress):
        if not isinstance(outcome, NewRun):
            yield path, outcome
            continue
        try:
            with writing(store.path) as work:
                written = workers.fetch(outcome).unpacked(work)
                run_id, is_new = _put(store, written, work)
            yield path, Added(run_id, is_new, written.seconds, written.sources if is_new else [])
        except IngestError as error:
            yield path, error
        outcome.forget()


def _put(store: "Store", written: Written, work: Path) -> tuple[str, bool]:
    """Put a run into the store. Return its id, and whether no other process was faster."""
    sync(written.directory)
    with store.changing(work) as change:
        if existing := _with_content(store.path, written, change.listing):
            return existing, False
        run_id = run_ids.new_id(written.name, written.digest, change.listing.runs)
        change.put(run_id, sql.schema_version(), written.directory, written.name, written.row)
        return run_id, True


def _with_content(store: Path, read: RunInput | Read, listing: Listing) -> str | None:
    """Return the id of the run in `listing` with the same files, or None."""
    for run_id in run_ids.likely(run_ids.by_digits(listing.runs), read.digest):
        if checksums(store / listing.runs[run_id].directory) == read.checksums:
            return run_id
    return None
