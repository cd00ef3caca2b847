"""Pushing runs of a store in a directory to a lake."""

import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

from ingest import sql
from ingest.errors import StoreError
from ingest.store.directory.derived.index import index_path
from ingest.store.directory.files.leases import keeping_files, take_lease
from ingest.store.directory.store import Store
from ingest.store.faults import StoreWarning
from ingest.store.lake.batch import WrittenRun, add_batch, batches, upload_batch
from ingest.store.lake.compaction import compact_if_due
from ingest.store.lake.head import LakeFile
from ingest.store.lake.lake import Lake
from ingest.store.lake.rewriting import manifest_of_run
from ingest.store.manifest import read_manifest
from ingest.store.run_ids import by_digits, likely


def push(
    store: Store, url: str, run_ids: Collection[str], *, skips: bool = False
) -> Iterator[list[str]]:
    """Add runs of a store to the lake at a URL, unless it has them. Yield the ids of each batch.

    Create the lake if there is none. If a run cannot be read, or if another version of tracehouse
    wrote it, raise StoreError, or with `skips` warn with StoreWarning and leave it out.
    """
    lake = Lake.created(url)
    new = sorted({*run_ids} - {*lake.runs})
    known = {file.path for file in lake.head.files}
    _lease = take_lease(store.path)  # held until the end
    with keeping_files(store.path):
        store.refresh()
        for batch in batches(_unknown(lake, _readable(store, new, skips))):
            runs = {run.run_id: run for run in batch}
            yield add_batch(lake.place, [*runs], partial(_upload, store, lake, runs), known)
    compact_if_due(lake.place)


def _upload(
    store: Store, lake: Lake, runs: Mapping[str, WrittenRun], chosen: Sequence[str]
) -> dict[str, LakeFile]:
    return upload_batch(lake.place, [runs[run_id] for run_id in chosen], _index(store))


def _unknown(lake: Lake, runs: Iterable[WrittenRun]) -> Iterator[WrittenRun]:
    """Yield the runs whose files the lake does not have, under another name."""
    digits = by_digits(lake.runs)
    for run in runs:
        for run_id in likely(digits, run.manifest.digest):
            there = manifest_of_run(lake.place, lake.head, run_id)
            if there.checksums == run.manifest.checksums:
                break
        else:
            yield run


def _readable(store: Store, run_ids: Sequence[str], skips: bool) -> Iterator[WrittenRun]:
    for run_id in run_ids:
        run = store.listing().runs.get(run_id)
        if run is None:
            problem = f"no such run in {store.path}"
        elif run.fault:
            problem = run.fault.text
        elif run.version != sql.schema_version():
            problem = "another version wrote it; run `ingest upgrade` first"
        else:
            directory = store.path / run.directory
            manifest = read_manifest(directory)
            if manifest:
                yield WrittenRun(directory, run.tables, manifest)
                continue
            problem = "its manifest cannot be read"
        if not skips:
            raise StoreError(f"{run_id}: {problem}")
        warnings.warn(f"{run_id} is not pushed: {problem}", StoreWarning, stacklevel=3)


def _index(store: Store) -> str:
    """Return a SQL relation: the rows of the store's index."""
    index = index_path(store.path, store.listing())
    if not index.exists():
        raise StoreError(f"{store.path}: the index is incomplete; run `ingest check`")
    return f"read_parquet({sql.literal(index)})"
