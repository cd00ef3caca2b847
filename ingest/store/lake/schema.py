"""The columns of the tables of a lake. Delta lacks some types of DuckDB."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pyarrow as pa

from ingest import sql
from ingest.store.derived.index import index_version
from ingest.store.derived.template import copy_empty

INDEX = "index"
RUNS = "runs"
DAY = "added_on"
BATCH = "batch"  # a batch is visible if a row of `runs` has it
STORED_AS = {"UBIGINT": "DECIMAL(20,0)", "JSON": "VARCHAR"}
KIND = re.compile(rf"\b({'|'.join(STORED_AS)})\b")


@cache
def kinds_of_tables() -> dict[str, dict[str, str]]:
    """Return the DuckDB type of each column of each table and of the index, without `run_id`."""
    with TemporaryDirectory() as directory, duckdb.connect() as connection:
        copy_empty(Path(directory) / "tables", Path(directory) / "index.parquet")
        file = sql.literal(f"{directory}/index.parquet")
        described = connection.execute(f"DESCRIBE FROM read_parquet({file})").fetchall()
    index = {name: kind for name, kind, *_ in described if name not in ("run_id", "content")}
    return {**{table: dict(kinds) for table, kinds in sql.table_columns().items()}, INDEX: index}


def lake_version() -> str:
    """Return a digest of the tables and of the index."""
    return sql.digest([sql.schema_version(), index_version()])


def to_lake(table: str) -> str:
    """Return the columns of a SELECT that writes rows of a table, after `run_id`."""
    return _columns(table, "", _stored)


def from_lake(table: str) -> str:
    """Return the columns of a SELECT that reads rows of a table, after `run_id`.

    They are those of `stored`. DuckDB would take an unqualified column `other` for the parameter
    `other` of a macro that reads the view.
    """
    return _columns(table, "stored.", str)


def arrow_schema(table: str) -> pa.Schema:
    """Return the schema of a table in the lake, with the day of adding, by which it is divided."""
    with duckdb.connect() as connection:
        columns = f"'' AS run_id, '' AS {BATCH}, {to_lake(table)}, NULL::DATE AS {DAY}"
        query = f"SELECT {columns} FROM ({_nulls(table)}) LIMIT 0"
        return connection.sql(query).to_arrow_table().schema


def write_empty(table: str, target: Path) -> None:
    """Write a file of a table of the lake, without rows."""
    with duckdb.connect() as connection:
        rows = f"SELECT ''::VARCHAR AS run_id, {to_lake(table)} FROM ({_nulls(table)}) LIMIT 0"
        connection.execute(f"COPY ({rows}) TO {sql.literal(target)} (FORMAT parquet)")


def _columns(table: str, qualifier: str, kind_of: Callable[[str], str]) -> str:
    """Return the columns of a table, each as the type that `kind_of` returns."""
    columns = []
    for name, kind in kinds_of_tables()[table].items():
        column = f"{qualifier}{_quoted(name)}"
        if _stored(kind) != kind:
            column += f"::{kind_of(kind)} AS {_quoted(name)}"
        columns.append(column)
    return ", ".join(columns)


def _nulls(table: str) -> str:
    kinds = kinds_of_tables()[table]
    return "SELECT " + ", ".join(f"NULL::{kind} AS {_quoted(name)}" for name, kind in kinds.items())


def _stored(kind: str) -> str:
    """Return the type of the lake for a type of DuckDB."""
    return KIND.sub(lambda found: STORED_AS[found[1]], kind)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
