"""Batches: runs of a local store, written as one file for each table and uploaded."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pyarrow.parquet as pq

from ingest import sql
from ingest.errors import StoreError
from ingest.store.derived.index import index_path
from ingest.store.files.leases import keeping_files
from ingest.store.files.listing import ListedRun
from ingest.store.lake.commits import Part, append, create, publish
from ingest.store.lake.lake import Lake
from ingest.store.lake.place import LakePlace
from ingest.store.lake.schema import DAY, INDEX, RUNS, kinds_of_tables, to_lake
from ingest.store.store import Store

BATCH_RUNS = 100
FORMAT = "FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v1"  # which all engines read


def push(store: Store, url: str, run_ids: Collection[str]) -> Iterator[list[str]]:
    """Add runs of a store to the lake at a URL, unless it has them. Yield the ids of each batch.

    Create the lake if there is none. Raise StoreError if a run cannot be read, or if another
    version of tracehouse wrote it.
    """
    place = LakePlace(url)
    for run_id in run_ids:
        if fault := store.faults().get(run_id):
            raise StoreError(f"{run_id}: {fault.text}")
        if store.listed(run_id).version != sql.schema_version():
            raise StoreError(f"{run_id}: another version wrote it; run `ingest upgrade` first")
    with place.reported("write"):
        create(place)
    known = set(Lake(url).run_ids())
    new = sorted({*run_ids} - known)
    for start in range(0, len(new), BATCH_RUNS):
        batch = new[start : start + BATCH_RUNS]
        with keeping_files(store.path):
            store.refresh()
            _push(place, store, [store.listed(run_id) for run_id in batch])
        yield batch


def today() -> str:
    """Return the day in UTC, by which the files of a table are divided."""
    return f"{datetime.now(UTC):%Y-%m-%d}"


def _push(place: LakePlace, store: Store, runs: Sequence[ListedRun]) -> None:
    """Upload and commit the files of a batch, those of `runs` last."""
    day = today()
    name = sql.digest(f"{run.run_id} {run.content}" for run in runs)
    versions = {}
    with TemporaryDirectory() as work:
        parts = dict(_written(Path(work), store, runs))
        for table, part in parts.items():
            uploaded = f"{DAY}={day}/{name}.parquet"
            place.upload(Path(work) / part.path, table, uploaded)
            parts[table] = replace(part, path=uploaded)
        with place.reported("write"):
            for table, part in parts.items():
                if table != RUNS:
                    versions[table] = append(place, table, day, part)
            publish(place, day, parts[RUNS], versions)


def _written(work: Path, store: Store, runs: Sequence[ListedRun]) -> Iterator[tuple[str, Part]]:
    """Write a file for each table in which a run has rows. Yield them by table."""
    with duckdb.connect() as connection:
        for table in kinds_of_tables():
            ids = [run.run_id for run in runs if table == INDEX or table in run.tables]
            if not ids:
                continue
            target = work / f"{table}.parquet"
            connection.execute(
                f"COPY (SELECT run_id, {to_lake(table)} FROM {_source(store, runs, table)}) "
                f"TO {sql.literal(target)} ({FORMAT})"
            )
            rows = pq.read_metadata(target).num_rows
            yield table, Part(target.name, target.stat().st_size, rows, tuple(ids))


def _source(store: Store, runs: Sequence[ListedRun], table: str) -> str:
    """Return the rows of the runs in a table of the local store, sorted by run."""
    if table == INDEX:
        ids = ", ".join(sql.literal(run.run_id) for run in runs)
        index = index_path(store.path, store.listing())
        if not index.exists():
            raise StoreError(f"{store.path}: the index is missing; run `ingest check`")
        return f"(FROM read_parquet({sql.literal(index)}) WHERE run_id IN ({ids}) ORDER BY run_id)"
    files = [
        sql.literal(f"{store.path}/{run.directory}/{table}.parquet")
        for run in runs
        if table in run.tables
    ]
    return (
        f"read_parquet([{', '.join(files)}], hive_partitioning = true, "
        "hive_types = {'run_id': VARCHAR})"
    )
