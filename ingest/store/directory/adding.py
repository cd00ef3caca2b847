"""Adding of files as runs, each in a process of its own."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ingest import sql
from ingest.conversion import AddOptions
from ingest.formats import Format
from ingest.inputs import RunInput, read_run_input
from ingest.store import run_ids
from ingest.store.directory.files.listing import Listing
from ingest.store.directory.files.locking import sync, writing
from ingest.store.manifest import checksums
from ingest.store.storage import Added
from ingest.store.written import write

if TYPE_CHECKING:
    from ingest.store.directory.store import Store


def add(
    store: "Store",
    path: Path,
    options: AddOptions,
    threads: int | None,
    progress: Callable[[int], None] | None,
    formats: Sequence[Format],
) -> Added:
    """Add a run directory or file as a run, as `Store.add` does."""
    began = time.perf_counter()
    options = options or AddOptions()
    captures = [Path(file) for file in options.capture_traces]
    options = options.without_secrets()
    with writing(store.path) as work, store.catalog_file.written_beside():
        run = read_run_input(Path(path), formats, captures)
        if existing := _with_content(store.path, run, store.now()):
            return Added(existing, False, time.perf_counter() - began, [])
        written = write(run, options, work, threads, progress)
        sync(written.directory)
        with store.changing(work) as change:
            if existing := _with_content(store.path, run, change.listing):  # another was faster
                return Added(existing, False, time.perf_counter() - began, [])
            run_id = run_ids.new_id(written.name, run.digest, change.listing.runs)
            change.put(run_id, sql.schema_version(), written.directory, written.name, written.row)
    return Added(run_id, True, time.perf_counter() - began, run.sources)


def _with_content(store: Path, run: RunInput, listing: Listing) -> str | None:
    """Return the id of the run in `listing` with the same files, or None."""
    for run_id in run_ids.likely(run_ids.by_digits(listing.runs), run.digest):
        if checksums(store / listing.runs[run_id].directory) == run.checksums:
            return run_id
    return None
