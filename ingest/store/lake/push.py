"""Pushing runs of a store in a directory: a batch has a file for each table."""

import uuid
import warnings
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
from ingest.store.files.faults import StoreWarning
from ingest.store.files.leases import keeping_files
from ingest.store.files.listing import ListedRun
from ingest.store.lake.commits import Part, append, create, publish
from ingest.store.lake.lake import Lake
from ingest.store.lake.place import LakePlace
from ingest.store.lake.schema import BATCH, DAY, INDEX, RUNS, kinds_of_tables, to_lake
from ingest.store.place import url_of
from ingest.store.store import Store

BATCH_RUNS = 100
FORMAT = "FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v1"  # which all engines read


def push(
    store: Store, url: str, run_ids: Collection[str], *, skips: bool = False
) -> Iterator[list[str]]:
    """Add runs of a store to the lake at a URL, unless it has them. Yield the ids of each batch.

    Create the lake if there is none. If a run cannot be read, or if another version of tracehouse
    wrote it, raise StoreError, or with `skips` warn with StoreWarning and leave it out.
    """
    place = LakePlace(url_of(url))
    with place.reported("write"):
        create(place)
    new = sorted({*run_ids} - {*Lake(url).run_ids()})
    for start in range(0, len(new), BATCH_RUNS):
        with keeping_files(store.path):
            store.refresh()
            batch = list(_readable(store, new[start : start + BATCH_RUNS], skips))
            if batch:
                _push(place, store, batch)
        yield [run.run_id for run in batch]


def _readable(store: Store, run_ids: Sequence[str], skips: bool) -> Iterator[ListedRun]:
    for run_id in run_ids:
        run = store.listed(run_id)
        if fault := store.faults().get(run_id):
            problem = fault.text
        elif run.version != sql.schema_version():
            problem = "another version wrote it; run `ingest upgrade` first"
        else:
            yield run
            continue
        if not skips:
            raise StoreError(f"{run_id}: {problem}")
        warnings.warn(f"{run_id} is not pushed: {problem}", StoreWarning, stacklevel=3)


def today() -> str:
    """Return the day in UTC, by which the files of a table are divided."""
    return f"{datetime.now(UTC):%Y-%m-%d}"


def _push(place: LakePlace, store: Store, runs: Sequence[ListedRun]) -> None:
    """Upload and commit the files of a batch, those of `runs` last."""
    day = today()
    name = uuid.uuid4().hex  # no other push writes the same files
    versions = {}
    with TemporaryDirectory() as work:
        parts = dict(_written(Path(work), store, runs, name))
        for table, part in parts.items():
            uploaded = f"{DAY}={day}/{name}.parquet"
            place.upload(Path(work) / part.path, table, uploaded)
            parts[table] = replace(part, path=uploaded)
        with place.reported("write"):
            for table, part in parts.items():
                if table != RUNS:
                    versions[table] = append(place, table, day, part)
            publish(place, day, parts[RUNS], versions)


def _written(
    work: Path, store: Store, runs: Sequence[ListedRun], batch: str
) -> Iterator[tuple[str, Part]]:
    """Write a file for each table in which a run has rows. Yield them by table."""
    with duckdb.connect() as connection:
        for table in kinds_of_tables():
            ids = [run.run_id for run in runs if table == INDEX or table in run.tables]
            if not ids:
                continue
            target = work / f"{table}.parquet"
            connection.execute(
                f"COPY (SELECT run_id, {sql.literal(batch)} AS {BATCH}, {to_lake(table)} "
                f"FROM {_source(store, runs, table)}) "
                f"TO {sql.literal(target)} ({FORMAT})"
            )
            rows = pq.read_metadata(target).num_rows
            if table == INDEX and rows != len(runs):
                raise StoreError(f"{store.path}: the index is incomplete; run `ingest check`")
            yield table, Part(target.name, target.stat().st_size, rows, tuple(ids))


def _source(store: Store, runs: Sequence[ListedRun], table: str) -> str:
    """Return the rows of the runs in a table of the local store, sorted by run."""
    if table == INDEX:
        ids = ", ".join(sql.literal(run.run_id) for run in runs)
        index = index_path(store.path, store.listing())
        if not index.exists():
            raise StoreError(f"{store.path}: the index is incomplete; run `ingest check`")
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
