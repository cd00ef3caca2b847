"""The check that a query is a single SELECT that reads the store's tables and views.

Settings alone do not make a DuckDB connection read-only: `allowed_directories` permits writing
wherever it permits reading, and a COPY inside a WITH counts as a SELECT. Therefore this module
checks a statement's syntax tree before DuckDB binds it, and its plan before DuckDB runs it.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import duckdb

from ingest import sql
from ingest.errors import QueryError

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
ONLY_READS = "the console accepts only SELECT, FROM, WITH, DESCRIBE, SHOW and SUMMARIZE"


def checked(connection: duckdb.DuckDBPyConnection, text: str) -> duckdb.DuckDBPyRelation:
    """Bind the single SELECT of `text`, without running it. Raise QueryError for anything else."""
    statement = _only_statement(connection, text)
    _check_syntax(connection, statement)
    # Bind before EXPLAIN, so that errors quote the query as the user wrote it.
    relation = connection.sql(statement)
    _check_plan(connection, statement)
    return relation


def _only_statement(connection: duckdb.DuckDBPyConnection, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise QueryError("Refused: the query contains half of a surrogate pair.") from error
    statements = connection.extract_statements(text)
    if not statements:
        raise QueryError("The query is empty.")
    if len(statements) > 1:
        raise QueryError(f"Refused: {len(statements)} statements; run one at a time.")
    query = str(statements[0].query)
    try:
        kind = statements[0].type
    except ValueError:  # a type that DuckDB's Python client does not know
        kind = None
    if kind == duckdb.StatementType.MULTI:
        raise QueryError("Refused: PIVOT must list its values, as in ON column IN ('a', 'b').")
    if kind != duckdb.StatementType.SELECT:
        raise QueryError(f"Refused: {_first_word(query)} is not allowed; {ONLY_READS}.")
    return query


def _first_word(query: str) -> str:
    match = re.search(r"[A-Za-z]+", re.sub(r"--[^\n]*|/\*.*?\*/", " ", query, flags=re.DOTALL))
    return match[0].upper() if match else "this"


def _check_syntax(connection: duckdb.DuckDBPyConnection, statement: str) -> None:
    """Refuse nodes that write, and table functions that open files or run other statements."""
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
                    f"Refused: {name} is not allowed; the console reads only the tables and views "
                    "of the store."
                )


def _check_plan(connection: duckdb.DuckDBPyConnection, statement: str) -> None:
    row = connection.execute(f"EXPLAIN (FORMAT json) {statement}").fetchone()
    operators = {str(node.get("name")) for node in _nodes(json.loads(row[1] if row else "[]"))}
    if writing := operators & WRITING_OPERATORS:
        raise QueryError(f"Refused: {min(writing)} is not allowed; {ONLY_READS}.")


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects of a JSON document."""
    waiting = [tree]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield value
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
