"""The commands `ingest schema` and `ingest sql`."""

from enum import StrEnum
from typing import Annotated

import typer

from ingest.cli.terminal import (
    ClusterOption,
    StoreOption,
    open_store,
    progress_of,
    results,
    say_error,
    table,
    write_query,
)
from ingest.errors import QueryError
from ingest.sql import macros, relations, start_here
from ingest.store.connection import connect
from ingest.store.each import collect_each


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
    query: Annotated[
        str | None, typer.Argument(help="A SQL query over the tables and views.")
    ] = None,
    output_format: Annotated[Format, typer.Option("--format", help="Format of the result.")] = (
        Format.table
    ),
    each: Annotated[
        str | None,
        typer.Option(
            metavar="SQL",
            help="A query that runs once for each run, and sees only that run. Table each has the "
            "rows of all, with column run_id.",
        ),
    ] = None,
    reduce: Annotated[
        str | None,
        typer.Option(
            metavar="SQL", help="With --each: a query over table each. Default: all its rows."
        ),
    ] = None,
    cluster: ClusterOption = None,
    store: StoreOption = None,
) -> None:
    """Run a query and write its result to stdout.

    With --each, workers of a cluster can do most of the work.
    """
    opened = open_store(store)
    if (query is None) == (each is None):
        raise typer.BadParameter("give either QUERY or --each")
    if (cluster or reduce) and each is None:
        raise typer.BadParameter("--reduce and --cluster need --each")
    connection = connect(opened)
    failed = 0
    if each is not None:
        with progress_of("runs") as advance:
            for error in collect_each(connection, opened, each, cluster, advance):
                say_error(error)
                failed += 1
    statement = (reduce or "FROM each") if query is None else query
    write_query(connection, statement, output_format=output_format.value)
    if failed:
        raise typer.Exit(1)
