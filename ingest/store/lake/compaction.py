"""Compaction: small files of a day become few, and what no reader needs disappears.

The rows of visible batches are copied to merged files, in the order of their runs. Rows of removed
runs, and files of batches that were never committed, are left out. Files that only earlier versions
need stay until `vacuum`.
"""

import time
import uuid
import warnings
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from ingest import sql
from ingest.errors import StoreError
from ingest.store.faults import StoreWarning
from ingest.store.lake.commits import MOST_HOURS, Change, change_runs, change_table, check_time
from ingest.store.lake.head import MERGED, Head, LakeFile, State, files_of, paths_to_read, read_head
from ingest.store.lake.intact import intact_copies
from ingest.store.lake.place import LakePlace
from ingest.store.lake.schema import BATCH, DAY, RUNS, kinds_of_tables
from ingest.store.lake.snapshot import Snapshot
from ingest.store.lake.uploads import uploaded, write

TARGET_BYTES = 128 << 20  # of a merged file
MEMORY_LIMIT = "1GB"
MANY_FILES = 50  # of `runs`; then the process that adds runs compacts the lake


@dataclass(frozen=True)
class Compacted:
    """A table that was compacted, and the number of its files before and after."""

    table: str
    before: int
    after: int


def compact_if_due(place: LakePlace) -> None:
    """Compact a lake that has many small files. Warn with StoreWarning if that fails."""
    try:
        if sum(map(_is_small, read_head(place).files)) > MANY_FILES:
            for _ in compact(place):
                pass
    except StoreError as error:
        warnings.warn(f"the runs were added, but not compacted: {error}", StoreWarning, 3)


def compact(place: LakePlace) -> Iterator[Compacted]:
    """Compact each table that gains by it. Yield it when it is done.

    Other processes may read and change the lake. Raise StoreError if another process compacts it.
    """
    with place.reported("write"):
        began = time.time()
        expired = place.now() - timedelta(hours=2 * MOST_HOURS)
        snapshot = Snapshot(place)
        head = snapshot.head
        batches = snapshot.batches | {batch for batch, _ in head.state.removed}
        versions = {}
        for table in sorted(kinds_of_tables().keys() - {RUNS}):
            opened = place.open(table)
            files = files_of(opened)
            old = _expired(place, table, [f for f in files if not f.is_of(batches)], expired)
            visible = [file for file in files if file.is_of(batches)]
            added, dropped = _merged(place, table, visible, head.state.removed)
            dropped += old
            if dropped:
                versions[table] = change_table(place, table, added, dropped, opened, began)
                yield _compacted(table, files, added, dropped)
            elif table in head.state.versions:
                # A compaction that was killed may have changed the table.
                versions[table] = int(opened.version())
        of_runs: list[Compacted] = []  # one for each attempt

        def compacted(latest: Head) -> Change:
            check_time(place, began)
            added, dropped = _merged(place, RUNS, latest.files, frozenset())
            of_runs.append(_compacted(RUNS, latest.files, added, dropped))
            state = State(latest.state.versions, latest.state.removed - head.state.removed)
            return Change(state.with_versions(versions), added, dropped)

        is_current = head.state.with_versions(versions) == head.state
        if not is_current or head.state.removed or _groups(head.files):
            change_runs(place, compacted)
            yield of_runs[-1]


def _compacted(
    table: str, files: Sequence[LakeFile], added: Sequence[LakeFile], dropped: Sequence[LakeFile]
) -> Compacted:
    return Compacted(table, len(files), len(files) + len(added) - len(dropped))


def _merged(
    place: LakePlace,
    table: str,
    files: Sequence[LakeFile],
    removed: Collection[tuple[str, str]],
) -> tuple[list[LakeFile], list[LakeFile]]:
    """Upload merged files. Return them, and the files that they replace."""
    added: list[LakeFile] = []
    dropped: list[LakeFile] = []
    affected = _with_rows_of(place, table, files, removed)
    for group in _groups(files, affected):
        added += _merge(place, table, group, removed)
        dropped += group
    return added, dropped


def _groups(files: Sequence[LakeFile], affected: Collection[str] = ()) -> list[list[LakeFile]]:
    """Return the files to merge, by day: several small ones, and those `affected`, by path."""
    days = defaultdict(list)
    for file in files:
        if _is_small(file) or file.path in affected:
            days[file.day].append(file)
    return [
        group for group in days.values() if len(group) > 1 or any(f.path in affected for f in group)
    ]


def _merge(
    place: LakePlace,
    table: str,
    files: Sequence[LakeFile],
    removed: Collection[tuple[str, str]],
) -> list[LakeFile]:
    """Write the rows of files of a day to files of about `TARGET_BYTES`, and upload these."""
    parts = -(-sum(file.bytes for file in files) // TARGET_BYTES)
    left_out = [f"{batch}/{run_id}" for batch, run_id in removed]
    found = []
    with TemporaryDirectory() as work, duckdb.connect() as connection:
        connection.execute(f"SET memory_limit = '{MEMORY_LIMIT}'")
        connection.execute(f"SET temp_directory = {sql.literal(work)}")
        paths = intact_copies(place, table, files, Path(work))
        for first, end in pairwise(_bounds(connection, paths, parts)):
            target = Path(work) / f"{table}.parquet"
            rows = (
                "SELECT * EXCLUDE (file_row_number) FROM read_parquet($1, hive_partitioning = "
                "false, file_row_number = true) "
                f"WHERE NOT list_contains($2::VARCHAR[], {BATCH} || '/' || run_id) "
                "AND run_id >= $3 AND ($4 IS NULL OR run_id < $4) ORDER BY run_id, file_row_number"
            )
            if write(connection, rows, target, [paths, left_out, first, end]):
                path = f"{DAY}={files[0].day}/{MERGED}{uuid.uuid4().hex}"
                found.append(uploaded(place, table, target, path))
    return found


def _bounds(
    connection: duckdb.DuckDBPyConnection, paths: Sequence[str], parts: int
) -> list[str | None]:
    """Return the first run of each of `parts` equal parts of the rows in files, and None."""
    if parts == 1:
        return ["", None]
    rows = connection.execute(
        "SELECT min(run_id) FROM ("
        "SELECT run_id, ($2 * (sum(count(*)) OVER (ORDER BY run_id) - 1) // sum(count(*)) OVER ()) "
        "AS part FROM read_parquet($1, hive_partitioning = false) GROUP BY run_id) "
        "GROUP BY part ORDER BY part",
        [list(paths), parts],
    ).fetchall()
    return [*(first for (first,) in rows), None]


def _with_rows_of(
    place: LakePlace,
    table: str,
    files: Sequence[LakeFile],
    removed: Collection[tuple[str, str]],
) -> set[str]:
    """Return the paths of the files that have rows of removed runs."""
    batches, run_ids = {batch for batch, _ in removed}, {run_id for _, run_id in removed}
    likely = [file for file in files if file.may_have(run_ids) and file.is_of(batches)]
    if not likely:
        return set()
    paths = dict(zip(paths_to_read(place, table, likely), likely, strict=True))
    with duckdb.connect() as connection:
        place.register(connection)
        rows = connection.execute(
            "SELECT DISTINCT of_file FROM read_parquet($1, hive_partitioning = false, "
            f"filename = 'of_file') WHERE list_contains($2::VARCHAR[], {BATCH} || '/' || run_id)",
            [[*paths], [f"{batch}/{run_id}" for batch, run_id in removed]],
        ).fetchall()
    return {paths[path].path for (path,) in rows}


def _expired(
    place: LakePlace, table: str, files: Sequence[LakeFile], before: datetime
) -> list[LakeFile]:
    """Return those of the files that were written before a time."""
    return [file for file in files if place.modified(table, file.path) < before]


def _is_small(file: LakeFile) -> bool:
    return file.bytes < TARGET_BYTES // 2
