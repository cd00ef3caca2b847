"""Rewriting of `runs`: a run's row changes by a new file in place of the file that has it."""

import uuid
from collections.abc import Collection, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from ingest import sql
from ingest.errors import StoreError
from ingest.store.lake.commits import Change
from ingest.store.lake.head import Head, LakeFile, State, paths_to_read
from ingest.store.lake.intact import intact_copies
from ingest.store.lake.place import LakePlace
from ingest.store.lake.schema import BATCH, DAY, MANIFEST, RUNS
from ingest.store.lake.uploads import uploaded, write
from ingest.store.manifest import Manifest, parse_manifest


def without_runs(place: LakePlace, head: Head, run_ids: Collection[str]) -> Change:
    """Return the change that removes runs. Raise StoreError if one is not there."""
    change, found = _rewritten(place, head, run_ids, None)
    state = State(head.state.versions, head.state.removed | found)
    return Change(state, change.added, change.dropped)


def with_columns(place: LakePlace, head: Head, run_id: str, columns: Mapping[str, str]) -> Change:
    """Return the change that sets columns of a run's row to SQL expressions.

    Raise StoreError if the run is not there.
    """
    return _rewritten(place, head, [run_id], columns)[0]


def runs_in(
    place: LakePlace, files: Collection[LakeFile], run_ids: Collection[str]
) -> list[tuple[str, str, str]]:
    """Return the file, batch and id of those of the runs that are in files of `runs`."""
    likely = [file for file in files if file.may_have(run_ids)]
    if not likely:
        return []
    paths = dict(zip(paths_to_read(place, RUNS, likely), likely, strict=True))
    with place.reported("read"), duckdb.connect() as connection:
        place.register(connection)
        rows = connection.execute(
            f"SELECT filename, {BATCH}, run_id FROM read_parquet($1, hive_partitioning = false, "
            "filename = true) WHERE run_id IN (SELECT unnest($2::VARCHAR[])) ORDER BY run_id",
            [[*paths], [*run_ids]],
        ).fetchall()
    return [(paths[file].path, batch, run_id) for file, batch, run_id in rows]


def manifest_of_run(place: LakePlace, head: Head, run_id: str) -> Manifest:
    """Return the manifest of a run. Its `files` is empty. Raise StoreError if there is none."""
    files = paths_to_read(place, RUNS, [file for file in head.files if file.may_have([run_id])])
    read = f"SELECT {MANIFEST} FROM read_parquet($1, hive_partitioning = false) WHERE run_id = $2"
    with place.reported("read"), duckdb.connect() as connection:
        place.register(connection)
        rows = connection.execute(read, [files, run_id]).fetchall() if files else []
    if not rows:
        raise StoreError(f"{run_id}: no such run in {place.url}")
    if not (manifest := parse_manifest(run_id, rows[0][0])):
        raise StoreError(f"{run_id}: its manifest cannot be read")
    return manifest


def _rewritten(
    place: LakePlace, head: Head, run_ids: Collection[str], columns: Mapping[str, str] | None
) -> tuple[Change, set[tuple[str, str]]]:
    """Return a change, and the batch and id of each run. Without `columns`, drop their rows."""
    found = runs_in(place, head.files, run_ids)
    if missing := {*run_ids} - {run_id for *_, run_id in found}:
        raise StoreError(f"{min(missing)}: no such run in {place.url}")
    affected = {path for path, *_ in found}
    dropped = [file for file in head.files if file.path in affected]
    with TemporaryDirectory() as work, duckdb.connect() as connection:
        files = [
            _rewrite(place, connection, file, run_ids, columns, Path(work)) for file in dropped
        ]
    change = Change(head.state, [file for file in files if file], dropped)
    return change, {(batch, run_id) for _, batch, run_id in found}


def _rewrite(
    place: LakePlace,
    connection: duckdb.DuckDBPyConnection,
    file: LakeFile,
    run_ids: Collection[str],
    columns: Mapping[str, str] | None,
    work: Path,
) -> LakeFile | None:
    source = intact_copies(place, RUNS, [file], work)
    read = f"FROM read_parquet({sql.literal(source)}, hive_partitioning = false)"
    chosen = "run_id IN (SELECT unnest($1::VARCHAR[]))"
    if columns is None:
        rows = f"SELECT * {read} WHERE NOT {chosen}"
    else:
        replaced = ", ".join(
            f"if({chosen}, {expression}, {name}) AS {name}" for name, expression in columns.items()
        )
        rows = f"SELECT * REPLACE ({replaced}) {read}"
    target = work / "runs.parquet"
    if not write(connection, f"{rows} ORDER BY run_id", target, [[*run_ids]]):
        return None
    return uploaded(place, RUNS, target, f"{DAY}={file.day}/{uuid.uuid4().hex}")
