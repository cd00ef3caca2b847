"""The tables that `ingest top` prints: the usual per-operator table, with idle time."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import duckdb

from ingest.cli.terminal import results, table
from ingest.reports import Section, top
from ingest.units import TIMES, counted, middle_out, percent, printable

if TYPE_CHECKING:
    from rich.console import RenderableType

LONGEST_NAME = 60
OTHER_COLUMNS_WIDTH = 52
TIME_COLUMNS = {"device_ns": "DeviceActiveTime (ms)", "self_ns": "HostSelfTime (ms)"}
Row = dict[str, Any]


def ranking_tables(
    connection: duckdb.DuckDBPyConnection, run_id: str, level: str, limit: int, is_wide: bool
) -> "Iterator[RenderableType]":
    """Yield the rankings of a run (`top.rankings`).

    `limit` is the number of rows; 0 shows all. The bubble row is always shown. Long names are
    shortened unless `is_wide`.
    """
    from rich.text import Text

    limit = limit or sys.maxsize
    longest = (
        sys.maxsize
        if is_wide
        else min(LONGEST_NAME, max(results().width - OTHER_COLUMNS_WIDTH, 20))
    )
    noted = ""
    for section in top.rankings(connection, run_id, level):
        rows = section.query.rows(connection)
        if section.view == "events":
            yield Text(section.note)
            for row in rows:
                events = counted(row["events"], "event")
                yield Text(printable(f"  {events} of category {row['category']}"))
            yield Text("`ingest show` prints what its files contain\n")
            continue
        if section.note != noted:
            noted = section.note
            yield Text(f"{noted}\n")
        if section.absent and not rows:
            yield Text(f"{section.absent}\n")
            continue
        assert section.totals is not None
        (totals,) = section.totals.rows(connection)
        yield from _ranking(section, rows, totals, level, limit, longest)


def _ranking(
    section: Section, rows: list[Row], totals: Row, level: str, limit: int, longest: int
) -> "Iterator[RenderableType]":
    from rich.text import Text

    time = "self_ns" if "self_ns" in totals else "device_ns"
    columns = ("OpName", TIME_COLUMNS[time], "Calls", "Percentage")
    shown = rows[:limit]
    shown += [row for row in rows[limit:] if row["name"] == "bubble"]
    cells = [
        (
            _short(row["name"], longest),
            _ms(row[time]),
            f"{row['calls']:,}",
            percent(row["percent"], 2),
        )
        for row in shown
    ]
    yield table(columns, cells, "  ".join(section.of), right=columns[1:])
    if len(rows) > len(shown):
        yield Text(f"… and {len(rows) - len(shown)} more")
    if time == "self_ns":
        yield Text(f"Total self time:    {_ms(totals['self_ns'])} ms\n")
        return
    wall, busy, idle = totals["wall_ns"], totals["busy_ns"], totals["idle_ns"]
    yield Text(f"Wall time:          {_ms(wall)} ms")
    yield Text(f"Active time:        {_ms(busy)} ms ({_share(busy, wall)})")
    yield Text(f"Bubble time:        {_ms(idle)} ms ({_share(idle, wall)})")
    best = [row for row in rows if row["name"] != "bubble"][:3]
    named = [
        f"{_short(row['name'], min(longest, LONGEST_NAME))} ({percent(row['percent'], 2)})"
        for row in best
    ]
    what = "Top 3 kernels:" if level == "kernel" else "Top 3 ops:"
    yield Text(f"{what:20}{', '.join(named)}\n")


def _short(name: str, longest: int) -> str:
    return middle_out(printable(name, len(name)), longest)


def _ms(time_ns: int) -> str:
    return f"{time_ns / TIMES['ms']:.3f}"


def _share(part: int, whole: int) -> str:
    return percent(100 * part / whole if whole else None, 2)
