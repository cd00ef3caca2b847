"""The commands `ingest schema` and `ingest sql`."""

from enum import StrEnum
from typing import Annotated

import typer

from ingest.cli.terminal import StoreOption, open_store, results, table, write_query
from ingest.errors import QueryError
from ingest.sql import macros, relations, start_here
from ingest.store.connection import connect


class Format(StrEnum):
    """The format of a query's result."""

    table = "table"
    csv = "csv"
    json = "json"
    parquet = "parquet"


def schema(
    name: Annotated[
        str | None, typer.Argument(help="A table, view or macro. Default: list all of them.")
    ] = None,
    store: StoreOption = None,
) -> None:
    """List the tables, views and macros, or describe the columns of one."""
    connection = connect(open_store(store))
    if name is None:
        results().print(table(("start here", "question"), start_here().items()))
        write_query(
            connection,
            "SELECT view_name AS name, comment FROM duckdb_views() WHERE NOT internal UNION ALL "
            "SELECT function_name AS name, comment FROM duckdb_functions() "
            "WHERE function_type = 'table_macro' AND comment IS NOT NULL ORDER BY name",
        )
        return
    documented = {file.name: file.documentation for file in relations()}
    if name not in documented:
        raise QueryError(f"{name}: no such table, view or macro; `ingest schema` lists them")
    if name in {macro.name for macro in macros()}:
        results().print(table(("column", "comment"), documented[name].columns.items()))
        return
    write_query(
        connection,
        "SELECT column_name AS column, data_type AS type, comment FROM duckdb_columns() "
        "WHERE table_name = $1 ORDER BY column_index",
        [name],
    )


def sql(
    query: Annotated[str, typer.Argument(help="A SQL query over the tables and views.")],
    output_format: Annotated[Format, typer.Option("--format", help="Format of the result.")] = (
        Format.table
    ),
    store: StoreOption = None,
) -> None:
    """Run a query and write its result to stdout."""
    connection = connect(open_store(store))
    write_query(connection, query, output_format=output_format.value)
