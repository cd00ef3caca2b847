"""Pulling runs of a lake to a store in a directory."""

from collections.abc import Collection, Iterator
from pathlib import Path

import duckdb

from ingest import sql
from ingest.conversion.parquet import EVENTS_FORMAT, FORMAT
from ingest.store.directory.files.locking import sync, writing
from ingest.store.directory.store import Store
from ingest.store.lake.lake import Lake
from ingest.store.lake.rewriting import manifest_of_run
from ingest.store.manifest import checksums
from ingest.store.run_ids import by_digits, likely


def pull(lake: Lake, store: Store, run_ids: Collection[str]) -> Iterator[str]:
    """Add runs of a lake to a store in a directory, unless it has them. Yield the id of each.

    Raise StoreError if a run cannot be read or written. The runs before it are then in the store.
    """
    present = store.run_ids()
    digits = by_digits(present)
    for run_id in sorted({*run_ids} - {*present}):
        manifest = manifest_of_run(lake.place, lake.head, run_id)
        same = likely(digits, manifest.digest)
        if any(checksums(store.run_path(i)) == manifest.checksums for i in same):
            continue  # the same files under another name
        with writing(store.path) as work:
            directory = work / "run"
            directory.mkdir()
            _write_tables(lake, run_id, directory)
            manifest.with_files_of(directory).write(directory)
            sync(directory)
            with store.changing(work) as change:
                if run_id in change.listing.runs:
                    continue
                name = lake.runs[run_id].name or ""
                change.put(run_id, sql.schema_version(), directory, name, row=None)
        yield run_id


def _write_tables(lake: Lake, run_id: str, directory: Path) -> None:
    """Write a file for each table in which the run has rows, in their order."""
    with duckdb.connect() as connection:
        lake.create_views(connection, [run_id])
        of_run = f"WHERE run_id = {sql.literal(run_id)}"
        for table in sql.table_columns():
            target = directory / f"{table}.parquet"
            options = EVENTS_FORMAT if table == "events" else FORMAT
            [(rows,)] = connection.execute(
                f"COPY (SELECT * EXCLUDE (run_id) FROM {table} {of_run}) "
                f"TO {sql.literal(target)} ({options})"
            ).fetchall()
            if not rows:
                target.unlink()
