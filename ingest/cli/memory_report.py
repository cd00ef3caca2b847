"""The report that `ingest memory` prints: a summary of each device's memory, and its owners."""

from collections.abc import Iterator, Sequence

import duckdb
from rich.console import RenderableType
from rich.text import Text

from ingest.cli.terminal import table
from ingest.errors import MissingError
from ingest.memory.moments import (
    LEVELS,
    OF_DEVICE,
    DeviceMemory,
    Moment,
    Owner,
    best_level,
    devices,
    moment,
    ordinal_at,
    owners,
    stack_frames,
)
from ingest.names import NO_STACK
from ingest.units import count, counted, percent, printable, size

COLUMNS = ("size", "bytes", "allocations", "%")


def memory_report(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    at: str = "peak",
    by: str | None = None,
    limit: int = 20,
) -> Iterator[RenderableType]:
    """Yield, for each device, a summary of its memory and the owners of memory at a moment.

    `at` is peak, end, oom (each time that memory ran out), seconds after the device's first action,
    or Unix ns. `by` is a level of `memory_owners`; None selects the first of frame, op and category
    at which an owner is known. The rows of a ranking, including those beyond `limit`, add up to the
    memory in use. Raise ValueError if `at` is not a moment, and MissingError if the run has no
    memory, no times or no out-of-memory error.
    """
    wanted = moment(at)
    of_run = devices(connection, run_id)
    if wanted.kind == "oom":
        yield from _errors(connection, run_id, of_run, by, limit)
        return
    for device in of_run:
        ordinal = ordinal_at(connection, device, wanted)
        when = _when(connection, device, wanted, ordinal)
        yield from _head(device)
        yield from _ranking(connection, device, ordinal, when, by, limit)
        if wanted.kind == "end":
            yield from _fragmentation(connection, device)
        yield Text()


def memory_warnings(connection: duckdb.DuckDBPyConnection, run_id: str) -> Iterator[str]:
    """Yield the warnings about files with memory, and about damaged files."""
    rows = connection.execute(
        """
        SELECT parse_filename(path), status, unnest(if(len(warnings) > 0, warnings, ['']))
        FROM sources
        WHERE run_id = $1 AND (
            status IN ('truncated', 'failed') OR len(warnings) > 0 AND source_id IN (
                SELECT source_id FROM memory_peak WHERE run_id = $1
            )
        )
        ORDER BY source_id
        """,
        [run_id],
    ).fetchall()
    for name, status, warning in rows:
        yield f"{name}: {warning or status}"


def _head(device: DeviceMemory) -> Iterator[RenderableType]:
    source = printable(device.path.replace("\\", "/").rpartition("/")[2])
    yield Text(
        f"{device.run_id}  rank {device.rank}  device {printable(device.label)}  {source}", "bold"
    )
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


def _when(
    connection: duckdb.DuckDBPyConnection, device: DeviceMemory, wanted: Moment, ordinal: int
) -> str:
    if wanted.kind in ("peak", "end"):
        return f"at the {wanted.kind}"
    if ordinal < 0:
        return "before the first action"
    rows = connection.execute(
        f"SELECT time_ns FROM memory_events WHERE {OF_DEVICE} AND ordinal = $4",
        device.at(ordinal),
    ).fetchall()
    last = "the last, " if ordinal == device.actions - 1 else ""
    return f"after action {ordinal:,} ({last}at {device.seconds(rows[0][0])})"


def _ranking(
    connection: duckdb.DuckDBPyConnection,
    device: DeviceMemory,
    ordinal: int,
    when: str,
    by: str | None,
    limit: int,
) -> Iterator[RenderableType]:
    level = by or best_level(connection, device, ordinal)
    held_by = owners(connection, device, ordinal, level)
    total = sum(owner.bytes for owner in held_by)
    title = f"In use {when}: {size(total)} ({total:,} bytes), by {LEVELS[level]}"
    if not held_by:
        yield Text(f"\n{title}: nothing", "italic")
        return
    if level == "stack":
        yield Text(f"\n{title}", "italic")
        yield from _stacks(connection, device.run_id, held_by[:limit])
    else:
        shown = [(owner.name, *_cells(owner)) for owner in held_by[:limit]]
        yield table((level, *COLUMNS), shown, f"\n{title}", right=COLUMNS)
    if rest := held_by[limit:]:
        held = sum(owner.bytes for owner in rest)
        yield Text(
            f"… and {len(rest):,} more: {size(held)} ({held:,} bytes, "
            f"{percent(100 * held / total, 2)})"
        )
    if not device.allocations and device.origin == "trace":
        yield Text("no addresses were recorded; see memory_by_op for allocations by operator")


def _cells(owner: Owner) -> tuple[str, str, str, str]:
    share = percent(owner.percent, 2).removesuffix("%")
    return size(owner.bytes), f"{owner.bytes:,}", count(owner.allocations), share


def _stacks(
    connection: duckdb.DuckDBPyConnection, run_id: str, held_by: Sequence[Owner]
) -> Iterator[RenderableType]:
    stacks = [owner.stack_id for owner in held_by if owner.stack_id is not None]
    frames = stack_frames(connection, run_id, stacks)
    for owner in held_by:
        held, exact, allocations, share = _cells(owner)
        yield Text(f"\n {held}  {exact} bytes  {allocations} allocations  {share}%", "bold")
        lines = [] if owner.stack_id is None else frames.get(owner.stack_id, [])
        for frame in lines or [owner.name]:
            yield Text(f"   {printable(frame)}")


def _fragmentation(
    connection: duckdb.DuckDBPyConnection, device: DeviceMemory
) -> Iterator[RenderableType]:
    rows = connection.execute(
        f"""
        SELECT segments, bytes, inactive_bytes, inactive_percent, stranded_bytes, rounding_bytes
        FROM fragmentation
        WHERE {OF_DEVICE} AND level = 'device'
        """,
        device.key,
    ).fetchall()
    for segments, held, inactive, share, stranded, rounding in rows:
        yield Text(
            f"Reserved: {size(held)} in {segments:,} segments; inactive {size(inactive)} "
            f"({percent(share or 0, 2)}), including stranded {size(stranded)}; "
            f"rounding {size(rounding)}"
        )


def _errors(
    connection: duckdb.DuckDBPyConnection,
    run_id: str,
    of_run: list[DeviceMemory],
    by: str | None,
    limit: int,
) -> Iterator[RenderableType]:
    found = 0
    for device in of_run:
        rows = connection.execute(
            f"""
            SELECT ordinal, time_ns, requested_bytes, device_free_bytes, reserved_bytes,
                active_bytes, free_bytes, largest_free_bytes, user_frame
            FROM oom_report
            WHERE {OF_DEVICE}
            ORDER BY ordinal
            """,
            device.key,
        ).fetchall()
        if rows:
            yield from _head(device)
        for ordinal, time_ns, *sizes, user_frame in rows:
            requested, device_free, reserved, active, free, largest = map(size, sizes)
            after = device.seconds(time_ns)
            yield Text(
                f"\nOut of memory at action {ordinal:,}{f' after {after}' if after else ''}: "
                f"{requested} requested by {printable(user_frame or NO_STACK)}",
                "bold",
            )
            yield Text(
                f"device free {device_free}; reserved {reserved} (allocated {active}, free {free}, "
                f"largest free block {largest})"
            )
            yield from _ranking(connection, device, ordinal, "at that moment", by, limit)
            yield Text()
        found += len(rows)
    if not found:
        raise MissingError(f"{run_id}: no out-of-memory error was recorded")
