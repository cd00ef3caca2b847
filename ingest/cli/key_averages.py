"""`ingest table`: the table that torch.profiler prints, for a run."""

from typing import Annotated

import duckdb
import typer

from ingest.cli import torch_table
from ingest.cli.terminal import RunArgument, StoreOption, open_store, warn, write_query
from ingest.errors import QueryError
from ingest.reports.runs import warnings
from ingest.store.connection import connect, read
from ingest.units import printable


def key_averages(
    run: RunArgument,
    sort_by: Annotated[
        str,
        typer.Option(help="Column to sort by, as torch names it. cuda and xpu mean the device."),
    ] = "self_cpu_time_total",
    group_by_input_shape: Annotated[
        bool, typer.Option("--group-by-input-shape", help="One row per name and input shapes.")
    ] = False,
    group_by_stack_n: Annotated[
        int, typer.Option(min=0, help="One row per name and its N innermost frames.")
    ] = 0,
    row_limit: Annotated[int, typer.Option(min=-1, help="Rows of each table. -1 shows all.")] = 100,
    max_name_column_width: Annotated[
        int, typer.Option(min=10, help="Width of the name column, in characters.")
    ] = 55,
    step: Annotated[
        int | None, typer.Option(help="Only this step. Default: the whole run.")
    ] = None,
    per_rank: Annotated[
        bool, typer.Option("--per-rank", help="One table per rank. Default: one for all ranks.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print all rows as JSON, with times in ns.")
    ] = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print all rows as CSV, with times in ns.")
    ] = False,
    store: StoreOption = None,
) -> None:
    """Print the table that torch.profiler's `key_averages().table()` prints."""
    if not (sort_key := torch_table.sort_key(sort_by)):
        known = ", ".join([*torch_table.SUMS, *torch_table.MEANS])
        raise typer.BadParameter(f"{sort_by!r} is not one of {known}", param_hint="--sort-by")
    if group_by_input_shape and group_by_stack_n:
        raise typer.BadParameter(
            "--group-by-input-shape and --group-by-stack-n cannot be used together"
        )
    if as_json and as_csv:
        raise typer.BadParameter("--json and --csv cannot be used together")
    opened = open_store(store)
    run_id = opened.find(run)
    connection = connect(opened, [run_id])
    warn(read(connection, lambda: warnings(connection, run_id)))
    _check_calls(connection, run_id, step)
    grouping = torch_table.Grouping(group_by_input_shape, group_by_stack_n, per_rank)
    rows, params = torch_table.query(run_id, grouping, step, sort_key)
    if as_json or as_csv:
        write_query(connection, rows, params, "json" if as_json else "csv")
        return
    limit = None if row_limit == -1 else row_limit
    lines = read(
        connection,
        lambda: list(torch_table.lines(connection, rows, params, limit, max_name_column_width)),
    )
    for line in lines:
        print(printable(line, len(line)))


def _check_calls(connection: duckdb.DuckDBPyConnection, run_id: str, step: int | None) -> None:
    """Raise QueryError if the run, or the step, has no calls."""
    query = "SELECT count(*), min(step), max(step), count(*) FILTER (step = $2) FROM call_tree "
    [(calls, first, last, in_step)] = read(
        connection,
        lambda: connection.execute(f"{query} WHERE run_id = $1", [run_id, step]).fetchall(),
    )
    if not calls:
        raise QueryError(f"{run_id} has no calls")
    if step is not None and not in_step:
        known = "it has no steps" if first is None else f"its steps are {first} to {last}"
        raise QueryError(f"{run_id} has no calls in step {step}: {known}")
