"""Files of a lake that this process writes: first here, then there."""

from collections.abc import Sequence
from pathlib import Path

import duckdb

from ingest import sql
from ingest.store.lake.head import DIGITS, SUFFIX, LakeFile
from ingest.store.lake.place import LakePlace
from ingest.store.manifest import size_and_sha256

FORMAT = "FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v1"  # which all engines read


def write(
    connection: duckdb.DuckDBPyConnection,
    rows: str,
    target: Path,
    parameters: Sequence[object] = (),
) -> bool:
    """Write rows, a SQL query, to a local file in the format of a lake.

    Return whether there are any.
    """
    copy = f"COPY ({rows}) TO {sql.literal(target)} ({FORMAT})"
    [(number,)] = connection.execute(copy, list(parameters)).fetchall()
    return bool(number)


def uploaded(place: LakePlace, table: str, file: Path, path: str) -> LakeFile:
    """Upload a local file with rows to a table. Its digest and suffix are added to `path`."""
    size, sha256 = size_and_sha256(file)
    path = f"{path}-{sha256[:DIGITS]}{SUFFIX}"
    with duckdb.connect() as connection:
        [(rows, first, last)] = connection.execute(
            f"SELECT count(*), min(run_id), max(run_id) FROM read_parquet({sql.literal(file)})"
        ).fetchall()
    place.upload(file, table, path)
    return LakeFile(path, size, rows, first, last)
