"""The columns of the tables of a lake. Delta lacks some types of DuckDB."""

import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pyarrow as pa

from ingest import sql
from ingest.store.directory.derived.index import STATE, index_version
from ingest.store.directory.derived.template import copy_empty

LAYOUT = "2"
RUNS = "runs"
OVERVIEW = "run_overview"  # has the labels of runs, so its rows are in `runs`
TABLES = "tables"  # the column with the tables in which a run has rows
MANIFEST = "manifest"  # the column with the manifest of a run, as JSON
DAY = "added_on"
BATCH = "batch"  # with `run_id`, it names the rows of a run: a run that is built again gets another
STORED_AS = {"UBIGINT": "DECIMAL(20,0)", "JSON": "VARCHAR"}
KIND = re.compile(rf"\b({'|'.join(STORED_AS)})\b")


@cache
def kinds_of_tables() -> dict[str, dict[str, str]]:
    """Return the DuckDB type of each column of each table, without `run_id` and `batch`.

    A row of `runs` also has the names of the run's tables, its manifest and its row of the index.
    So one commit of `runs` changes all that is said of a run.
    """
    kinds = {table: dict(columns) for table, columns in sql.table_columns().items()}
    del kinds[OVERVIEW]
    of_runs = {**kinds[RUNS], TABLES: "VARCHAR[]", MANIFEST: "VARCHAR", **indexed_kinds()}
    return {**kinds, RUNS: of_runs}


@cache
def indexed_kinds() -> dict[str, str]:
    """Return the type of each column of the index that is a column of `runs` in a lake."""
    with TemporaryDirectory() as directory, duckdb.connect() as connection:
        copy_empty(Path(directory) / "tables", Path(directory) / "index.parquet")
        file = sql.literal(f"{directory}/index.parquet")
        described = connection.execute(f"DESCRIBE FROM read_parquet({file})").fetchall()
    return {name: kind for name, kind, *_ in described if name not in (*STATE, RUNS)}


def lake_version() -> str:
    """Return a digest of the tables, of the index and of how a lake stores them."""
    return sql.digest([LAYOUT, sql.schema_version(), index_version()])


def to_lake(table: str) -> str:
    """Return the columns of a SELECT that writes rows of a table, after `run_id` and `batch`."""
    return _columns(table, kinds_of_tables()[table], "", _stored)


def from_lake(table: str, columns: Iterable[str]) -> str:
    """Return the columns of a SELECT that reads rows of a table.

    They are those of `stored`. DuckDB would take an unqualified column `other` for the parameter
    `other` of a macro that reads the view.
    """
    return _columns(table, columns, "stored.", str)


def arrow_schema(table: str) -> pa.Schema:
    """Return the schema of a table in the lake, with the day of adding, by which it is divided."""
    with duckdb.connect() as connection:
        columns = f"'' AS run_id, '' AS {BATCH}, {to_lake(table)}, NULL::DATE AS {DAY}"
        query = f"SELECT {columns} FROM ({_nulls(table)}) LIMIT 0"
        return connection.sql(query).to_arrow_table().schema


def write_empty(table: str, target: Path) -> None:
    """Write a file of a table of the lake, without rows."""
    with duckdb.connect() as connection:
        columns = f"'' AS run_id, '' AS {BATCH}, {to_lake(table)}"
        rows = f"SELECT {columns} FROM ({_nulls(table)}) LIMIT 0"
        connection.execute(f"COPY ({rows}) TO {sql.literal(target)} (FORMAT parquet)")


def quoted(name: str) -> str:
    """Return the name of a column as SQL."""
    return '"' + name.replace('"', '""') + '"'


def _columns(
    table: str, names: Iterable[str], qualifier: str, kind_of: Callable[[str], str]
) -> str:
    """Return columns of a table, each as the type that `kind_of` returns."""
    columns = []
    for name in names:
        kind = kinds_of_tables()[table][name]
        column = f"{qualifier}{quoted(name)}"
        if _stored(kind) != kind:
            column += f"::{kind_of(kind)} AS {quoted(name)}"
        columns.append(column)
    return ", ".join(columns)


def _nulls(table: str) -> str:
    kinds = kinds_of_tables()[table]
    return "SELECT " + ", ".join(f"NULL::{kind} AS {quoted(name)}" for name, kind in kinds.items())


def _stored(kind: str) -> str:
    """Return the type of the lake for a type of DuckDB."""
    return KIND.sub(lambda found: STORED_AS[found[1]], kind)
