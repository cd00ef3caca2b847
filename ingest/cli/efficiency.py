"""The tables that `ingest top --efficiency` prints: how close work comes to the limits."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import duckdb

from ingest.cli.terminal import table
from ingest.reports import efficiency
from ingest.units import (
    bandwidth,
    duration,
    middle_out,
    operation_rate,
    percent,
    printable,
    shapes,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

LONGEST_NAME = 40
LEFT = ("Name", "Shapes", "Type", "Bound")
COLUMNS = (
    *("Name", "Shapes", "Type", "Calls", "Time", "Rate", "Memory", "Peak", "Bandwidth", "Bound"),
    "Could save",
)


def efficiency_tables(
    connection: duckdb.DuckDBPyConnection, run_id: str, level: str, limit: int, is_wide: bool
) -> "Iterator[RenderableType]":
    """Yield a table for each device of a run, and its utilisation.

    `limit` is the number of rows; 0 shows all. Long names are shortened unless `is_wide`.
    """
    from rich.text import Text

    for section in efficiency.efficiencies(connection, run_id, level):
        rows = section.query.rows(connection)
        assert section.totals is not None
        (totals,) = section.totals.rows(connection)
        title = "  ".join(section.of)
        if not rows:
            yield Text(f"{title}: no operator has known work. {efficiency.HOW_TO_RECORD_WORK}")
            continue
        shown = rows[: limit or None]
        longest = sys.maxsize if is_wide else LONGEST_NAME
        shown_columns = [
            index for index, name in enumerate(COLUMNS) if level == "op" or name != "Shapes"
        ]
        cells = [_cells(row, longest) for row in shown]
        yield table(
            [COLUMNS[index] for index in shown_columns],
            [tuple(row[index] for index in shown_columns) for row in cells],
            title,
            right=[name for name in COLUMNS if name not in LEFT],
        )
        if len(rows) > len(shown):
            yield Text(f"… and {len(rows) - len(shown)} more")
        yield from map(Text, _summary(totals, section.note))


def _cells(row: dict[str, Any], longest: int) -> tuple[str, ...]:
    return (
        middle_out(printable(row["name"] or "–", longest), longest),
        middle_out(shapes(row["input_dims"]), longest),
        row["dtype"] or "",
        f"{row['calls']:,}",
        duration(row["work_ns"]),
        operation_rate(row["tflop_per_s"]),
        bandwidth(row["tb_per_s"]),
        percent(row["peak_percent"]),
        percent(row["bandwidth_percent"]),
        (row["bound"] or "") + (" (above peak)" if row["warning"] else ""),
        duration(row["saved_ns"]),
    )


def _summary(totals: dict[str, Any], peaks: str) -> Iterator[str]:
    used = totals["bandwidth_percent"]
    share = "" if used is None else f" ({percent(used)} of the bandwidth)"
    time = "operators' time" if totals["device"] is None else "device time without communication"
    known = f"{percent(totals['known_percent'])} of the {time}"
    least = "at least " if totals["is_lower_bound"] else ""
    mfu = f"{least}{percent(totals['mfu_percent'])}, of the median step"
    if totals["unknown_reason"]:
        mfu = f"unknown: {efficiency.UNKNOWN[totals['unknown_reason']]}"
    yield f"Model FLOP utilisation: {mfu}"
    yield (
        f"Rates of the step:      {least}{operation_rate(totals['tflop_per_s'])}, "
        f"{bandwidth(totals['tb_per_s'])}{share}"
    )
    yield f"Known work:             {known}"
    yield f"{peaks}\n"
