"""The commands `ingest list` and `ingest show`."""

import sys
from typing import Any

from ingest.cli.ranking_tables import recompiled
from ingest.cli.terminal import RunArgument, StoreOption, open_store, results, table, write_query
from ingest.reports import Query
from ingest.reports import runs as reports
from ingest.store.connection import connect, read
from ingest.units import printable


def list_runs(store: StoreOption = None) -> None:
    """List the runs of the store, newest first."""
    write_query(connect(open_store(store)), reports.runs().text)


def show(run: RunArgument, store: StoreOption = None) -> None:
    """Show a run: its origin, files, devices, stages, memory and compilations."""
    opened = open_store(store)
    run_id, connection = opened.find(run), connect(opened)

    def found(query: Query) -> tuple[list[str], list[tuple[Any, ...]]]:
        def ask() -> tuple[list[str], list[tuple[Any, ...]]]:
            asked = connection.execute(query.text, list(query.parameters))
            return [column[0] for column in asked.description], asked.fetchall()

        return read(connection, ask)

    names, rows = found(reports.labels(run_id))
    for row in rows:
        results().print(table(("", "run"), zip(names, row, strict=True)))
    for path, line, warnings in found(reports.files(run_id))[1]:
        for text in (path, f"  {line}", *(f"  {warning}" for warning in warnings)):
            print(printable(text))
    for (below,) in found(reports.files_below(run_id))[1]:
        print(f"{below} in directories of the run, not read: table sources lists them")
    if warning := read(connection, lambda: recompiled(connection, run_id)):
        print(f"warning: {warning}", file=sys.stderr)
    for query in reports.contents(run_id):
        if found(query)[1]:
            write_query(connection, query.text, query.parameters)
