"""The tables that `ingest top` prints: the usual per-operator table, with idle time."""

import sys
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import duckdb

from ingest.cli.terminal import results, table
from ingest.names import NO_CATEGORY
from ingest.store.connection import read
from ingest.units import TIMES, counted, middle_out, percent, printable

if TYPE_CHECKING:
    from rich.console import RenderableType

LONGEST_NAME = 60
OTHER_COLUMNS_WIDTH = 52
COLUMNS = ("OpName", "DeviceActiveTime (ms)", "Calls", "Percentage")
HOST_COLUMNS = ("OpName", "HostSelfTime (ms)", "Calls", "Percentage")


def ranking_tables(
    connection: duckdb.DuckDBPyConnection, run_id: str, level: str, limit: int, is_wide: bool
) -> "Iterator[RenderableType]":
    """Yield a ranking for each rank and device and, if there are several, one over all devices.

    A run without device activity gets a ranking by host self time.

    `level` is op, leaf or kernel, as in view `ranking`. `limit` is the number of rows; 0 shows
    all. The bubble row is always shown. Long names are shortened unless `is_wide`.
    """
    from rich.text import Text

    limit = limit or sys.maxsize
    longest = (
        sys.maxsize
        if is_wide
        else min(LONGEST_NAME, max(results().width - OTHER_COLUMNS_WIDTH, 20))
    )
    devices = connection.execute(
        """
        SELECT device_id, rank, device, wall_ns, busy_ns, idle_ns
        FROM ranking_walls WHERE run_id = $1 ORDER BY rank, device
        """,
        [run_id],
    ).fetchall()
    if not devices:
        yield from _host_ranking(connection, run_id, limit, longest)
        return
    for device_id, rank, device, *times in devices:
        rows = connection.execute(
            """
            SELECT name, device_ns, calls, percent FROM ranking
            WHERE run_id = $1 AND level = $2 AND device_id = $3
            ORDER BY device_ns DESC, name
            """,
            [run_id, level, device_id],
        ).fetchall()
        title = f"{run_id}  rank {rank}  device {device}"
        yield from _ranking(title, rows, times, level, limit, longest)
    idle = connection.execute(
        """
        SELECT DISTINCT rank FROM sources
        WHERE run_id = $1 AND rank NOT IN (SELECT rank FROM device_totals WHERE run_id = $1)
        ORDER BY rank
        """,
        [run_id],
    ).fetchall()
    for (rank,) in idle:
        yield Text(f"rank {rank} has no device activity\n")
    if len(devices) == 1:
        return
    rows = connection.execute(
        """
        SELECT name, device_ns, calls, percent FROM ranking_over_all
        WHERE run_id = $1 AND level = $2 ORDER BY device_ns DESC, name
        """,
        [run_id, level],
    ).fetchall()
    totals = [sum(device[i] for device in devices) for i in (2, 3, 4)]
    title = f"{run_id}  all {len(devices)} devices, sum of their times"
    yield from _ranking(title, rows, totals, level, limit, longest)


def damage(connection: duckdb.DuckDBPyConnection, run_id: str) -> str | None:
    """Return a warning if files of the run failed or ended early, because a ranking lacks them."""
    (row,) = connection.execute(
        "SELECT problems, devices FROM run_overview WHERE run_id = $1", [run_id]
    ).fetchall()
    problems, devices = row
    if not problems:
        return None
    effect = "missing work looks like idle time" if devices else "no device activity was read"
    return f"{counted(problems, 'file')} of {run_id} ended early or failed: {effect}"


def recompiled(connection: duckdb.DuckDBPyConnection, run_id: str) -> str | None:
    """Return a warning, with a reason, if torch recompiled while the run was measured."""
    for recompiles, seconds, reason in connection.execute(
        "SELECT recompiles, dur_ns / 1e9, reasons[1] FROM measured_recompiles WHERE run_id = $1",
        [run_id],
    ).fetchall():
        times = "once" if recompiles == 1 else f"{recompiles:,} times"
        because = f": {reason.splitlines()[0]}" if reason else ""
        return f"{run_id} recompiled {times} while it was measured, in {seconds:.3f} s{because}"
    return None


def warn(connection: duckdb.DuckDBPyConnection, run_id: str) -> None:
    """Print warnings to stderr if a run is incomplete or recompiled while it was measured."""
    for fault in (damage, recompiled):
        if message := read(connection, partial(fault, connection, run_id)):
            print(f"warning: {message}", file=sys.stderr)


def _ranking(
    title: str,
    rows: list[tuple[Any, ...]],
    times: list[int],
    level: str,
    limit: int,
    longest: int,
) -> "Iterator[RenderableType]":
    from rich.text import Text

    shown = rows[:limit]
    shown += [row for row in rows[limit:] if row[0] == "bubble"]
    yield table(COLUMNS, [_row(row, longest) for row in shown], title, right=COLUMNS[1:])
    if len(rows) > len(shown):
        yield Text(f"… and {len(rows) - len(shown)} more")
    wall, busy, bubble = times
    yield Text(f"Wall time:          {_ms(wall)} ms")
    yield Text(f"Active time:        {_ms(busy)} ms ({_share(busy, wall)})")
    yield Text(f"Bubble time:        {_ms(bubble)} ms ({_share(bubble, wall)})")
    best = [row for row in rows if row[0] != "bubble"][:3]
    named = [f"{_short(row[0], min(longest, LONGEST_NAME))} ({percent(row[3], 2)})" for row in best]
    what = "Top 3 kernels:" if level == "kernel" else "Top 3 ops:"
    yield Text(f"{what:20}{', '.join(named)}\n")


def _host_ranking(
    connection: duckdb.DuckDBPyConnection, run_id: str, limit: int, longest: int
) -> "Iterator[RenderableType]":
    from rich.text import Text

    rows = connection.execute(
        """
        SELECT rank, name, self_ns, calls, percent FROM host_op_ranking
        WHERE run_id = $1 ORDER BY rank, self_ns DESC, name
        """,
        [run_id],
    ).fetchall()
    if not rows:
        yield Text(f"{run_id} has no operators and no device activities")
        for category, number in connection.execute(
            "SELECT coalesce(category, $2) AS named, count(*) AS number FROM events "
            "WHERE run_id = $1 GROUP BY named ORDER BY number DESC, named",
            [run_id, NO_CATEGORY],
        ).fetchall():
            yield Text(printable(f"  {counted(number, 'event')} of category {category}"))
        yield Text("`ingest show` prints what its files contain\n")
        return
    yield Text(f"{run_id} has no device activity: ranked by host self time\n")
    for rank in sorted({row[0] for row in rows}):
        ranked = [row[1:] for row in rows if row[0] == rank]
        title = f"{run_id}  rank {rank}  host"
        shown = [_row(row, longest) for row in ranked[:limit]]
        yield table(HOST_COLUMNS, shown, title, right=HOST_COLUMNS[1:])
        if len(ranked) > limit:
            yield Text(f"… and {len(ranked) - limit} more")
        yield Text(f"Total self time:    {_ms(sum(row[1] for row in ranked))} ms\n")


def _row(row: tuple[Any, ...], longest: int) -> tuple[str, ...]:
    name, time_ns, calls, share = row
    return _short(name, longest), _ms(time_ns), f"{calls:,}", percent(share, 2)


def _short(name: str, longest: int) -> str:
    return middle_out(printable(name, len(name)), longest)


def _ms(time_ns: int) -> str:
    return f"{time_ns / TIMES['ms']:.3f}"


def _share(part: int, whole: int) -> str:
    return percent(100 * part / whole if whole else None, 2)
