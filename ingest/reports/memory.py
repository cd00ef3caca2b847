"""What `ingest memory` and page Memory say about a device's memory."""

from collections.abc import Sequence

import duckdb

from ingest.reports import moments
from ingest.reports.device_memory import DeviceMemory
from ingest.reports.moments import Moment
from ingest.reports.query import Query, Value, select
from ingest.reports.section import Section
from ingest.units import counted

LEVELS = {
    "frame": "line of code",
    "stack": "stack",
    "module": "nn.Module",
    "op": "operator",
    "category": "category",
}
MIN_STEPS = 3  # to see a leak: two steps after the first
FRAGMENTS = (
    "segments, bytes, active_bytes, inactive_bytes, inactive_percent, stranded_bytes, "
    "rounding_bytes, largest_inactive_bytes"
)


def at_moment(
    connection: duckdb.DuckDBPyConnection, device: DeviceMemory, moment: Moment, by: str | None
) -> Section:
    """Return the owners of a device's memory at a moment; `errors` has the moments of kind oom.

    `by` is a level of `LEVELS`; None selects the first of frame, op and category at which an owner
    is known. Raise MissingError if a time is needed and none was recorded.
    """
    ordinal = moments.ordinal_at(connection, device, moment)
    level = by or best_level(connection, device, ordinal)
    return owners(device, ordinal, level, moments.name(connection, device, moment, ordinal))


def owners(
    device: DeviceMemory, ordinal: int, level: str, when: str, limit: int | None = None
) -> Section:
    """Return the owners of a device's memory after an action, the largest first.

    `when` is the name of the moment: `at the peak`. A level is one of `memory_owners`. Without a
    limit, the rows add up to the memory in use.
    """
    return Section(
        f"In use {when}",
        "memory_by_owner",
        select(
            "name, bytes, percent, allocations, level, is_known, stack_id",
            "memory_by_owner_at('moment')",
            {"level": level},
            given=device.at(ordinal),
            order_by="bytes DESC, name, stack_id",
            limit=limit,
        ),
        _of(device),
        labels={"name": LEVELS[level]},
    )


def best_level(connection: duckdb.DuckDBPyConnection, device: DeviceMemory, ordinal: int) -> str:
    """Return the first of the levels frame, op and category at which an owner is known."""
    for level in ("frame", "op", "category"):
        known = select(
            "1",
            "memory_by_owner_at('moment')",
            {"level": level, "is_known": True},
            given=device.at(ordinal),
            limit=1,
        )
        if known.rows(connection):
            return level
    return "frame"


def stack_frames(
    connection: duckdb.DuckDBPyConnection, run_id: str, stack_ids: Sequence[int]
) -> dict[int, list[str]]:
    """Return the frames of stacks, innermost first, as `file:line function`."""
    query = select(
        "stack_id, list(concat(filename, ':' || line, ' ', function) ORDER BY depth) AS frames",
        "stack_frames",
        {"run_id": run_id, "stack_id": stack_ids},
        group_by="stack_id",
    )
    found = query.rows(connection) if stack_ids else []
    return {row["stack_id"]: row["frames"] for row in found}


def errors(device: DeviceMemory, limit: int | None = None) -> Section:
    """Return the out-of-memory errors of a device, in order."""
    return Section(
        "Out of memory",
        "oom_report",
        select("*", "oom_report", device.where(), order_by="ordinal", limit=limit),
        _of(device),
        absent="No out-of-memory error was recorded.",
    )


def fragmentation(device: DeviceMemory, level: str) -> Section:
    """Return the reserved memory of a device by level: device, pool or segment."""
    columns, title = {
        "device": (FRAGMENTS, "Fragmentation"),
        "pool": (f"pool, {FRAGMENTS}", "Fragmentation by pool"),
        "segment": (f"segment_id, pool, {FRAGMENTS.removeprefix('segments, ')}", "By segment"),
    }[level]
    return Section(
        title,
        "fragmentation",
        select(
            columns,
            "fragmentation",
            {**device.where(), "level": level},
            order_by="bytes DESC, 1",
        ),
        _of(device),
        note="The state when the snapshot was taken. Stranded memory is unused, but its segment "
        "also holds allocations, so it cannot be released to the device.",
        labels={
            "bytes": "reserved",
            "active_bytes": "in use",
            "inactive_bytes": "unused",
            "inactive_percent": "unused, %",
            "stranded_bytes": "stranded",
            "rounding_bytes": "rounding",
            "largest_inactive_bytes": "largest unused",
            "segment_id": "segment",
        },
    )


def allocator_settings(device: DeviceMemory) -> Section:
    """Return the allocator's settings that a snapshot recorded."""
    return Section(
        "Allocator settings",
        "allocator_settings",
        select(
            "setting, value",
            "allocator_settings",
            {"run_id": device.run_id, "source_id": device.source_id},
            order_by="setting",
        ),
        _of(device),
        note="Settings recorded in the snapshot. `PYTORCH_CUDA_ALLOC_CONF` changes them.",
        absent="The snapshot has no allocator settings. PyTorch 2.3 and later write them.",
    )


def steps(device: DeviceMemory) -> Query:
    """Return the query for the steps in which the device's memory was recorded."""
    return select("step", "memory_steps", device.where(), order_by="step")


def leaks(device: DeviceMemory, steps: int) -> Section:
    """Return the memory that was allocated after the first step and not freed by the end.

    `steps` is the number of steps in which the device's memory was recorded.
    """
    absent = "No leaks: all memory that was allocated after the first step was freed by the end."
    if not device.has_history or not device.allocations:
        absent = "Leaks are unknown: no allocations were recorded over time."
    elif steps < MIN_STEPS:
        found = counted(steps, "step") if steps else "no steps"
        absent = f"Leaks are unknown: it takes {MIN_STEPS} steps to see them. This run has {found}."
    return Section(
        "Leaks",
        "leaks",
        select(
            "user_frame, is_growing, bytes, allocations, bytes_a_step, steps, steps_in_all, "
            "first_step, last_step",
            "leaks",
            device.where(),
            order_by="is_growing DESC, bytes DESC, user_frame",
        ),
        _of(device),
        note="Memory that was allocated after the first step and not freed by the end. **grows** "
        "means that every step left memory behind.",
        absent=absent,
        labels={
            "user_frame": "line of code",
            "is_growing": "grows",
            "bytes": "left",
            "bytes_a_step": "a step",
            "steps_in_all": "of steps",
        },
    )


def by_operator(device: DeviceMemory) -> Section:
    """Return the memory that operators allocated, the largest amount first."""
    where: dict[str, Value] = {
        **device.where(),
        # Steps are annotations, but the profiler counts them as operators.
        "starts_with(op, 'ProfilerStep#')": False,
    }
    return Section(
        "Memory by operator",
        "memory_by_op",
        select(
            "op, calls, self_allocated_bytes, self_bytes, total_bytes",
            "memory_by_op",
            where,
            order_by="self_allocated_bytes DESC, op",
        ),
        _of(device),
        note="Memory that operators allocated, and how much was left when they ended, counted like "
        "the profiler's `key_averages()`. Below 0, an operator freed more than it allocated.",
        absent="No operator allocated memory.",
        labels={
            "self_allocated_bytes": "allocated",
            "self_bytes": "left",
            "total_bytes": "left, with callees",
        },
    )


def warnings(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[str]:
    """Return the warnings about files with memory, and about damaged files."""
    query = Query(
        """
        SELECT parse_filename(path) AS file, status,
            unnest(if(len(warnings) > 0, warnings, [''])) AS warning
        FROM sources
        WHERE run_id = $1 AND (
            status IN ('truncated', 'failed') OR len(warnings) > 0 AND source_id IN (
                SELECT source_id FROM memory_peak WHERE run_id = $1
            )
        )
        ORDER BY source_id
        """,
        (run_id,),
    )
    return [f"{row['file']}: {row['warning'] or row['status']}" for row in query.rows(connection)]


def _of(device: DeviceMemory) -> tuple[str, ...]:
    return device.run_id, f"rank {device.rank}", f"device {device.label}", device.file
