"""A read-only console over a store: one SELECT at a time, within limits of time, memory and rows.

Settings alone do not make a DuckDB connection read-only: `allowed_directories` permits writing
where it permits reading, and a COPY inside a WITH counts as a SELECT. So the syntax tree of a
statement is checked before anything of it is bound, and its plan before it is run.

DuckDB looks at the limits between vectors of rows: a query that builds one giant value, such as
`list_sort(range(200000000))`, passes both until that value is made.
"""

import io
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from ingest import sql
from ingest.catalog import create_views
from ingest.errors import QueryError
from ingest.store import Store, default_store

if TYPE_CHECKING:
    import pandas as pd

SETTINGS = (
    "SET enable_external_access = false",
    "SET python_enable_replacements = false",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET allow_community_extensions = false",
    "SET max_temp_directory_size = '0B'",
    "SET enable_progress_bar = false",
)
QUERY_NODES = {"SELECT_NODE", "SET_OPERATION_NODE", "CTE_NODE", "RECURSIVE_CTE_NODE"}
TABLE_FUNCTIONS = {
    "duckdb_columns",
    "duckdb_functions",
    "duckdb_tables",
    "duckdb_types",
    "duckdb_views",
    "generate_series",
    "histogram",
    "histogram_values",
    "json_each",
    "json_tree",
    "pragma_table_info",
    "query_table",
    "range",
    "repeat",
    "summary",
    "unnest",
}
WRITING_OPERATORS = {"COPY_TO_FILE", "BATCH_COPY_TO_FILE", "INSERT", "UPDATE", "DELETE", "MERGE"}
ONLY_READS = "the console only reads (SELECT, FROM, WITH, DESCRIBE, SHOW, SUMMARIZE)"


@dataclass(frozen=True)
class Result:
    """A query's rows, at most as many as the console allows; `complete` when these are all."""

    table: pa.Table
    complete: bool
    seconds: float

    def frame(self) -> "pd.DataFrame":
        """The rows as a pandas DataFrame, written out as text where pandas has no type for them.

        Integers stay integers where some are null.
        """
        import pandas as pd

        table = _with_text(self.table, _has_no_pandas_type)
        try:
            return table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
        except (ValueError, OverflowError):  # dates beyond Python's
            return _with_text(table, pa.types.is_temporal).to_pandas()

    def csv(self) -> bytes:
        """The rows as CSV; lists, structs and maps as JSON."""
        buffer = io.BytesIO()
        flat = _with_text(self.table, lambda kind: pa.types.is_nested(kind) or _is_interval(kind))
        pa_csv.write_csv(flat, buffer, pa_csv.WriteOptions(quoting_style="needed"))
        return buffer.getvalue()

    def parquet(self) -> bytes:
        """The rows as Parquet; intervals, which it has no type for, as text."""
        buffer = io.BytesIO()
        pq.write_table(_with_text(self.table, _is_interval), buffer, compression="zstd")
        return buffer.getvalue()


class Console:
    """Queries on a store that can neither change it nor read anything else.

    `seconds`, `rows` and `memory` limit each query. Safe to use from several threads.
    """

    def __init__(
        self,
        store: str | Path | None = None,
        seconds: float = 10.0,
        rows: int = 100_000,
        memory: str = "1GB",
    ) -> None:
        self.seconds = seconds
        self.rows = rows
        path = Store(store or default_store()).path
        self._connection = duckdb.connect(config={"memory_limit": memory})
        self._connection.execute(f"SET allowed_directories = [{sql.quoted(f'{path}/')}]")
        for setting in SETTINGS:
            self._connection.execute(setting)
        create_views(self._connection, path)
        self._connection.execute("SET lock_configuration = true")

    def query(self, text: str) -> Result:
        """The rows of one SELECT. Raises QueryError, with the reason, for anything else."""
        started = time.perf_counter()
        cursor = self._connection.cursor()
        done = threading.Event()
        watch = threading.Thread(target=_interrupt_when_late, args=(cursor, self.seconds, done))
        watch.start()
        try:
            statement = _only_statement(cursor, text)
            _check_syntax(cursor, statement)
            relation = cursor.sql(statement)  # binds it, and runs nothing yet
            _check_plan(cursor, statement)
            table = relation.limit(self.rows + 1).to_arrow_table()
        except duckdb.InterruptException as error:
            raise QueryError(
                f"Stopped after {self.seconds:g} s. Narrow the query, by run_id for instance."
            ) from error
        except duckdb.OutOfMemoryException as error:
            raise QueryError("Stopped: the query needs more memory than it may use.") from error
        except duckdb.Error as error:
            raise QueryError(str(error).strip()) from error
        finally:
            done.set()
            watch.join()
            cursor.close()
        elapsed = time.perf_counter() - started
        return Result(_narrow(table.slice(0, self.rows)), table.num_rows <= self.rows, elapsed)


def _interrupt_when_late(
    connection: duckdb.DuckDBPyConnection, seconds: float, done: threading.Event
) -> None:
    while not done.wait(seconds):
        connection.interrupt()
        seconds = 0.1  # an interrupt between two statements has no effect: try again


def _only_statement(connection: duckdb.DuckDBPyConnection, text: str) -> str:
    statements = connection.extract_statements(text)
    if not statements:
        raise QueryError("Nothing to run: write a query.")
    if len(statements) > 1:
        raise QueryError(f"Refused: one statement at a time, these are {len(statements)}.")
    query = str(statements[0].query)
    try:
        kind = statements[0].type
    except ValueError:  # a kind that DuckDB's Python client has no name for
        kind = None
    if kind == duckdb.StatementType.MULTI:
        raise QueryError("Refused: PIVOT must list its values here: ON column IN ('a', 'b').")
    if kind != duckdb.StatementType.SELECT:
        raise QueryError(f"Refused: {_first_word(query)} is not allowed; {ONLY_READS}.")
    return query


def _first_word(query: str) -> str:
    match = re.search(r"[A-Za-z]+", re.sub(r"--[^\n]*|/\*.*?\*/", " ", query, flags=re.DOTALL))
    return match[0].upper() if match else "this"


def _check_syntax(connection: duckdb.DuckDBPyConnection, statement: str) -> None:
    """Refuses writing nodes, and table functions that reach for files or hide a statement."""
    row = connection.execute("SELECT json_serialize_sql($1::VARCHAR)", [statement]).fetchone()
    try:
        tree = json.loads(row[0]) if row else {"error": True}
    except RecursionError as error:
        raise QueryError("Refused: the query is nested too deeply.") from error
    if tree["error"]:
        raise QueryError(f"Refused: {tree.get('error_message', ONLY_READS)}")
    allowed = TABLE_FUNCTIONS | {macro.name for macro in sql.macros()}
    for node in _nodes(tree):
        kind = str(node.get("type", ""))
        if kind.endswith("_NODE") and kind not in QUERY_NODES:
            word = kind.removesuffix("_NODE").removesuffix("_QUERY")
            raise QueryError(f"Refused: {word} is not allowed; {ONLY_READS}.")
        if kind == "TABLE_FUNCTION":
            name = str(node["function"]["function_name"])
            if name.lower() not in allowed:
                raise QueryError(
                    f"Refused: {name} is not allowed; the console reads the tables and views "
                    "of the store and nothing else."
                )


def _check_plan(connection: duckdb.DuckDBPyConnection, statement: str) -> None:
    row = connection.execute(f"EXPLAIN (FORMAT json) {statement}").fetchone()
    operators = {str(node.get("name")) for node in _nodes(json.loads(row[1] if row else "[]"))}
    if writing := operators & WRITING_OPERATORS:
        raise QueryError(f"Refused: {min(writing)} is not allowed; {ONLY_READS}.")


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """All objects of a JSON document."""
    waiting = [tree]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield value
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def _narrow(table: pa.Table) -> pa.Table:
    """Sums of BIGINT are HUGEINT in DuckDB and decimals in Arrow: integers again where they fit."""
    for index, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type) and field.type.scale == 0:
            try:
                values = table.column(index).cast(pa.int64())
            except pa.ArrowInvalid:
                continue
            table = table.set_column(index, field.name, values)
    return table


def _has_no_pandas_type(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_nested(kind)
        or pa.types.is_union(kind)
        or pa.types.is_binary(kind)
        or _is_interval(kind)
    )


def _is_interval(kind: pa.DataType) -> bool:
    return bool(pa.types.is_interval(kind))


def _with_text(table: pa.Table, is_meant: Callable[[pa.DataType], bool]) -> pa.Table:
    """The table with some columns as text: JSON, or what Python prints where JSON has no form."""
    for index, field in enumerate(table.schema):
        if is_meant(field.type):
            text = [None if not v.is_valid else _text(v) for v in table.column(index)]
            table = table.set_column(index, field.name, pa.array(text, pa.string()))
    return table


def _text(value: pa.Scalar) -> str:
    try:
        return json.dumps(value.as_py(maps_as_pydicts="lossy"), default=str)
    except (ValueError, OverflowError, pa.ArrowException):
        return str(value.cast(pa.string()))
