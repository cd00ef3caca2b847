"""The command `ingest ranks`."""

import json
from typing import Annotated, Any

import typer

from ingest.cli.terminal import RunArgument, StoreOption, open_store, results, table
from ingest.json_values import plain
from ingest.reports import ranks as reports
from ingest.store.connection import connect, read
from ingest.units import count, counted, number_ranges, printable

MAX_FINDINGS = 10
COLUMNS = ("process group", "ranks", "last enqueued", "last started", "last completed", "dump")


def ranks(
    run: RunArgument,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print everything as one JSON object.")
    ] = False,
    store: StoreOption = None,
) -> None:
    """Show which rank makes the others wait and why, and in a hang, which has not come."""
    opened = open_store(store)
    run_id = opened.find(run)
    connection = connect(opened, [run_id])
    report = read(connection, lambda: reports.report(connection, run_id))
    if as_json:
        print(json.dumps(plain(report)))
        return
    findings = report["findings"]
    for finding in findings[:MAX_FINDINGS]:
        print(printable(finding))
    if len(findings) > MAX_FINDINGS:
        print(f"{counted(len(findings) - MAX_FINDINGS, 'more finding')} with --json")
    if report["groups"]:
        title = reports.sections(run_id)["groups"].title
        results().print()
        results().print(table(COLUMNS, map(_cells, report["groups"]), title, right=COLUMNS[2:5]))


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    described = row["group_description"]
    return (
        f"{row['process_group']} ({described})" if described else str(row["process_group"]),
        number_ranges(row["ranks"]),
        count(row["last_enqueued_seq"]),
        count(row["last_started_seq"]),
        count(row["last_completed_seq"]),
        str(row["missing_reason"] or "yes"),
    )
