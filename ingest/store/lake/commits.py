"""Commits of a lake: batches of files that were uploaded, and the versions that readers see."""

import json
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb

from ingest.errors import StoreError
from ingest.store.lake.place import LakePlace
from ingest.store.lake.schema import DAY, RUNS, arrow_schema, kinds_of_tables, lake_version

VERSIONS = "tracehouse_versions"
WRITER = "tracehouse_tables"
ATTEMPTS = 20
REWRITTEN = "another program rewrote its tables, so it is unknown which runs are whole"

if TYPE_CHECKING:
    from deltalake import DeltaTable
    from deltalake.transaction import AddAction


@dataclass(frozen=True)
class Part:
    """A file of a batch: its path in the table, its size, and the runs whose rows it has."""

    path: str
    bytes: int
    rows: int
    run_ids: tuple[str, ...]


def create(place: LakePlace) -> None:
    """Create the tables that do not exist. `runs` comes last, so a lake with it has all tables."""
    if place.exists(RUNS):
        return
    from deltalake import CommitProperties, Schema

    for table in sorted(kinds_of_tables(), key=lambda table: table == RUNS):
        if place.exists(table):
            continue
        try:
            place.tables.create(
                place.path(table),
                Schema.from_arrow(arrow_schema(table)),
                partition_by=[DAY],
                storage_options=place.options,
                configuration={"delta.logRetentionDuration": "interval 3650 days"},
                commit_properties=CommitProperties(
                    custom_metadata={WRITER: lake_version(), VERSIONS: "{}"}
                ),
            )
        except Exception:
            if not place.exists(table):  # no other process was faster
                raise


def append(place: LakePlace, table: str, day: str, part: Part) -> int:
    """Commit an uploaded file to a table. Return a version that has it."""
    opened = place.open(table)
    opened.create_write_transaction(
        [_added(part, day)], "append", opened.schema(), partition_by=[DAY]
    )
    opened.update_incremental()
    return int(opened.version())


def publish(place: LakePlace, day: str, part: Part, versions: Mapping[str, int]) -> None:
    """Commit the file of `runs`, which makes its batch visible, with the versions of the tables.

    Raise StoreError if another process pushed one of the runs meanwhile.
    """
    from deltalake import CommitProperties
    from deltalake.exceptions import CommitFailedError

    for attempt in range(ATTEMPTS):
        opened = place.open(RUNS)
        files = paths(opened)
        if part.path in files:  # the answer to the last attempt was lost
            return
        if twice := sorted({*part.run_ids} & _run_ids_in(place, files)):
            raise StoreError(f"{twice[0]}: another process pushed it meanwhile; try again")
        merged = dict(read_versions(place, opened))
        for table, version in versions.items():
            merged[table] = max(version, merged.get(table, 0))
        try:
            opened.create_write_transaction(
                [_added(part, day)],
                "append",
                opened.schema(),
                partition_by=[DAY],
                commit_properties=CommitProperties(
                    custom_metadata={WRITER: lake_version(), VERSIONS: json.dumps(merged)},
                    max_commit_retries=0,
                ),
            )
        except CommitFailedError:  # another process was faster
            time.sleep(0.05 * attempt)
            continue
        return
    raise StoreError(f"{place.url}: too many processes add runs at once; try again")


def paths(table: "DeltaTable") -> set[str]:
    """Return the paths of the files of a table, relative to it."""
    return set(table.get_add_actions(flatten=True).column("path").to_pylist())


def read_versions(place: LakePlace, runs: "DeltaTable") -> dict[str, int]:
    """Return the version of each table that belongs to a version of `runs`.

    Raise StoreError if another program, or another version of tracehouse, wrote that version.
    """
    lines = place.text(RUNS, f"_delta_log/{runs.version():020}.json").splitlines()
    entries: list[dict[str, dict[str, str]]] = list(map(json.loads, lines))
    commit = next((entry["commitInfo"] for entry in entries if "commitInfo" in entry), {})
    if WRITER not in commit:
        raise StoreError(f"{place.url}: {REWRITTEN}")
    if commit[WRITER] != lake_version():
        raise StoreError(
            f"{place.url}: a version of tracehouse with other tables wrote this store; push to "
            "another URL"
        )
    found: dict[str, int] = json.loads(commit[VERSIONS])
    return found


def _run_ids_in(place: LakePlace, files: Collection[str]) -> set[str]:
    """Return the runs in files of `runs`."""
    if not files:
        return set()
    with duckdb.connect() as connection:
        place.register(connection)
        rows = connection.execute(
            "SELECT run_id FROM read_parquet($1, hive_partitioning = false)",
            [[place.path(RUNS, file) for file in files]],
        ).fetchall()
    return {run_id for (run_id,) in rows}


def _added(part: Part, day: str) -> "AddAction":
    from deltalake.transaction import AddAction

    statistics = {
        "numRecords": part.rows,
        "minValues": {"run_id": min(part.run_ids)},
        "maxValues": {"run_id": max(part.run_ids)},
        "nullCount": {"run_id": 0},
    }
    return AddAction(
        part.path, part.bytes, {DAY: day}, int(time.time() * 1000), True, json.dumps(statistics)
    )
