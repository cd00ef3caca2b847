"""The report that `ingest memory` prints: a summary of each device's memory, and its owners."""

from collections.abc import Iterator, Sequence
from typing import Any

import duckdb
from rich.console import RenderableType
from rich.text import Text

from ingest.cli.terminal import table
from ingest.errors import MissingError
from ingest.names import NO_STACK
from ingest.reports import Section, memory
from ingest.reports.device_memory import DeviceMemory, devices
from ingest.reports.moments import moment
from ingest.units import count, counted, percent, printable, size

COLUMNS = ("size", "bytes", "allocations", "%")
Row = dict[str, Any]


def memory_report(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    at: str = "peak",
    by: str | None = None,
    limit: int = 20,
) -> Iterator[RenderableType]:
    """Yield, for each device, a summary of its memory and the owners of memory at a moment.

    `at` is peak, end, oom (each time that memory ran out), seconds after the device's first action,
    or Unix ns. `by` is a level of `memory.LEVELS`; None selects the best (`memory.best_level`).
    The rows of a ranking, including those beyond `limit`, add up to the memory in use. Raise
    ValueError if `at` is not a moment, and MissingError if the run has no memory, no times or no
    out-of-memory error.
    """
    wanted = moment(at)
    of_run = devices(connection, run_id)
    if wanted.kind == "oom":
        yield from _errors(connection, run_id, of_run, by, limit)
        return
    for device in of_run:
        section = memory.at_moment(connection, device, wanted, by)
        yield from _head(section, device)
        yield from _owners(connection, section, device, limit)
        if wanted.kind == "end":
            yield from _fragmentation(connection, device)
        yield Text()


def _head(section: Section, device: DeviceMemory) -> Iterator[RenderableType]:
    yield Text("  ".join(map(printable, section.of)), "bold")
    peak = size(device.peak_bytes)
    if device.actions and device.peak_ordinal < 0:
        peak += " at the start"
    elif after := device.seconds(device.peak_ns):
        peak += f" after {after}"
    parts = [f"start {size(device.start_bytes)}", f"peak {peak}", f"end {size(device.end_bytes)}"]
    if device.end_reserved_bytes is not None:
        reserved, most = device.end_reserved_bytes, device.peak_reserved_bytes
        at_most = "" if most == reserved else f", at most {size(most)}"
        parts.append(f"reserved {size(reserved)}{at_most}")
    if device.actions:
        parts.append(f"{counted(device.actions, 'action')} of a {device.origin}")
    else:
        parts.append(f"a {device.origin} without history")
    yield Text("; ".join(parts))


def _owners(
    connection: duckdb.DuckDBPyConnection, section: Section, device: DeviceMemory, limit: int
) -> Iterator[RenderableType]:
    rows = section.query.rows(connection)
    total = sum(row["bytes"] for row in rows)
    title = f"{section.title}: {size(total)} ({total:,} bytes), by {section.labels['name']}"
    if not rows:
        yield Text(f"\n{title}: nothing", "italic")
        return
    level = rows[0]["level"]
    if level == "stack":
        yield Text(f"\n{title}", "italic")
        yield from _stacks(connection, device.run_id, rows[:limit])
    else:
        shown = [(row["name"], *_cells(row)) for row in rows[:limit]]
        yield table((level, *COLUMNS), shown, f"\n{title}", right=COLUMNS)
    if rest := rows[limit:]:
        held = sum(row["bytes"] for row in rest)
        yield Text(
            f"… and {len(rest):,} more: {size(held)} ({held:,} bytes, "
            f"{percent(100 * held / total, 2)})"
        )
    if not device.allocations and device.origin == "trace":
        yield Text("no addresses were recorded; see memory_by_op for allocations by operator")


def _cells(owner: Row) -> tuple[str, str, str, str]:
    share = percent(owner["percent"], 2).removesuffix("%")
    return size(owner["bytes"]), f"{owner['bytes']:,}", count(owner["allocations"]), share


def _stacks(
    connection: duckdb.DuckDBPyConnection, run_id: str, owners: Sequence[Row]
) -> Iterator[RenderableType]:
    stacks = [owner["stack_id"] for owner in owners if owner["stack_id"] is not None]
    frames = memory.stack_frames(connection, run_id, stacks)
    for owner in owners:
        held, exact, allocations, share = _cells(owner)
        yield Text(f"\n {held}  {exact} bytes  {allocations} allocations  {share}%", "bold")
        for frame in frames.get(owner["stack_id"]) or [owner["name"]]:
            yield Text(f"   {printable(frame)}")


def _fragmentation(
    connection: duckdb.DuckDBPyConnection, device: DeviceMemory
) -> Iterator[RenderableType]:
    for row in memory.fragmentation(device, "device").query.rows(connection):
        yield Text(
            f"Reserved: {size(row['bytes'])} in {row['segments']:,} segments; "
            f"inactive {size(row['inactive_bytes'])} "
            f"({percent(row['inactive_percent'] or 0, 2)}), "
            f"including stranded {size(row['stranded_bytes'])}; "
            f"rounding {size(row['rounding_bytes'])}"
        )


def _errors(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    of_run: Sequence[DeviceMemory],
    by: str | None,
    limit: int,
) -> Iterator[RenderableType]:
    found = 0
    for device in of_run:
        section = memory.errors(device)
        rows = section.query.rows(connection)
        if rows:
            yield from _head(section, device)
        for row in rows:
            after = device.seconds(row["time_ns"])
            yield Text(
                f"\nOut of memory at action {row['ordinal']:,}{f' after {after}' if after else ''}:"
                f" {size(row['requested_bytes'])} requested by "
                f"{printable(row['user_frame'] or NO_STACK)}",
                "bold",
            )
            yield Text(
                f"device free {size(row['device_free_bytes'])}; reserved "
                f"{size(row['reserved_bytes'])} (allocated {size(row['active_bytes'])}, free "
                f"{size(row['free_bytes'])}, largest free block {size(row['largest_free_bytes'])})"
            )
            level = by or memory.best_level(connection, device, row["ordinal"])
            held = memory.owners(device, row["ordinal"], level, "at that moment")
            yield from _owners(connection, held, device, limit)
            yield Text()
        found += len(rows)
    if not found:
        raise MissingError(f"{run_id}: no out-of-memory error was recorded")
