"""Stages of pipeline calls: against plain Python, and each rule on a small trace."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import pytest

from tests.builders.events import Event, host, kernel, op
from tests.builders.pipelines import CALL, mark
from tests.builders.relations import Relations, Run, built, ranks
from tests.conftest import Command, Traces
from tests.ingest.sql.stages import stages_in_python
from tests.ingest.sql.stages.stages_in_python import Cell, Cells


def launched(
    name: str, launch: float, start: float, dur: float, tid: int = 1, device: int = 0
) -> list[Event]:
    """Return a kernel and its launch."""
    correlation = round(launch * 1000) * 10 + device
    call = host("cudaLaunchKernel", "cuda_runtime", launch, 0, {"correlation": correlation}, tid)
    return [call, kernel(name, start, dur, device=device, correlation=correlation)]


def cells(connection: Relations, columns: str) -> dict[Cell, Any]:
    """Return cell → columns of `stages`, for a trace with one call."""
    return {
        (stage, step, block): rest[0] if len(rest) == 1 else tuple(rest)
        for stage, step, block, *rest in connection.sql(
            f"SELECT stage, step, block_class, {columns} FROM stages"
        ).fetchall()
    }


def found_parts(connection: Relations) -> dict[tuple[int | None, int], Cells]:
    """Return (device, call) → cell → part → ns, with all causes combined as `idle`."""
    found: dict[tuple[int | None, int], Cells] = defaultdict(lambda: defaultdict(Counter))
    for device, call, stage, step, block, part, ns in connection.sql(
        "SELECT device, call, stage, step, block_class, if(is_idle, 'idle', part), ns "
        "FROM stage_parts"
    ).fetchall():
        found[device, call][stage, step, block][part] += ns
    return found


def parts_of(connection: Relations) -> dict[Cell, dict[str, int]]:
    """Return cell → part → µs, for a trace with one call on one device."""
    [parts] = found_parts(connection).values()
    return {cell: {part: ns // 1000 for part, ns in found.items()} for cell, found in parts.items()}


def nonzero(parts: dict[tuple[int | None, int], Cells]) -> dict[Any, Any]:
    """Return the parts with a time other than 0."""
    return {
        (key, cell, part): ns
        for key, found in parts.items()
        for cell, times in found.items()
        for part, ns in times.items()
        if ns
    }


def random_call(rng: random.Random, start: int, step: int) -> tuple[list[Event], int]:
    """Return the events of a random pipeline call that begins at `start`, and its end."""
    events = []
    now = start + rng.randrange(4)
    for stage in rng.choices(["encode", "denoise", "decode", None], k=rng.randrange(6)):
        begin = now
        now += rng.randrange(4)
        for _ in range(rng.randrange(4) if stage == "denoise" else rng.randrange(2)):
            step_begin = now
            for _ in range(rng.randrange(3)):
                length = rng.randrange(5)
                events.append(mark(f"block: {rng.choice('AB')}", now, length))
                now += length + rng.randrange(3)
            if stage == "denoise":
                events.append(mark(f"ProfilerStep#{step}", step_begin, now - step_begin))
                step += 1
        if stage:
            events.append(mark(f"stage: {stage}", begin, now - begin))
        now += rng.randrange(4)
    now += 1
    events.append(mark(f"pipeline: {rng.choice('PQ')}", start, now - start))
    return events, now


def random_trace(rng: random.Random, has_device: bool) -> list[Event]:
    """Return the events of many random calls, and work in and around them."""
    events: list[Event] = []
    now = 0
    for _ in range(40):
        now += rng.randrange(15)
        call, now = random_call(rng, now, len(events) * 10)
        events += call
    ends = {1: 0.0, 2: 0.0}
    for number in range(300):
        at, tid = rng.randrange(-5, now + 5) + number / 1000, rng.choice([1, 2])
        if has_device:
            args = {"correlation": number + 1}
            events.append(host("cudaLaunchKernel", "cuda_runtime", at, 0, args, tid))
            kind = rng.choice(["kernel", "kernel", "gpu_memcpy"])
            begin, length = at + rng.randrange(9), rng.randrange(1, 5)
            events.append(
                kernel("k", begin, length, kind, rng.randrange(2), rng.randrange(2), **args)
            )
        begin = max(ends[tid], number * now / 300)
        ends[tid] = begin + rng.randrange(1, 6)
        events.append(op("aten::mm", begin, ends[tid] - begin, tid=tid))
    return events


def memory(ts: float, change: int, total: int) -> Event:
    """Return a change of the memory in use."""
    args = {"Total Allocated": total, "Bytes": change, "Addr": ts, "Device Type": 0}
    return {
        "ph": "i",
        "cat": "cpu_instant_event",
        "name": "[memory]",
        "pid": 1,
        "tid": 1,
        "ts": ts,
        "args": {**args, "Device Id": -1, "Ev Idx": 1, "Total Reserved": 0},
    }


# Traces by name. Those on a host are the ranks of one run, and those on a device of another.
ON_HOST: dict[str, list[Event]] = {
    "a call": [*CALL, op("aten::mm", 12, 3), op("aten::mm", 36, 2), op("aten::mm", 41, 2, tid=2)],
    "labels outside calls": [
        *(mark("stage: decode", 0, 10), mark("block: A", 12, 5), op("aten::mm", 13, 2)),
        *(mark("pipeline: A", 20, 5), mark("stage: 1", 21, 3)),
    ],
    "nested pipelines": [
        *(mark("pipeline: Outer", 0, 90), mark("stage: denoise", 10, 70)),
        *(mark("pipeline: Inner", 20, 50), mark("stage: encode", 25, 10)),
    ],
    "a step that outlasts the loop": [
        mark("ProfilerStep#0", 5, 20),
        mark("pipeline: A", 10, 50),
        mark("stage: denoise", 20, 20),
        mark("ProfilerStep#1", 30, 60),
    ],
    "parts of a call": [
        mark("pipeline: A", 0, 50),
        mark("stage: encode", 10, 20),
        op("aten::mm", 5, 10),
        op("aten::mm", 12, 8, tid=2),
        op("aten::mm", 25, 10),
    ],
    "memory": [
        *(*CALL, memory(5, 100, 100), memory(12, 50, 150)),
        *(memory(18, -50, 100), memory(90, 10, 110)),
    ],
    "random 2": random_trace(random.Random(2), has_device=False),
}
ON_DEVICE: dict[str, list[Event]] = {
    "parts of a call on a device": [
        *CALL,
        *launched("before", -20, -10, 15),
        *launched("text", 12, 15, 10),
        *launched("double", 36, 40, 5),
        *launched("of another thread", 56, 60, 5, tid=2),
        *launched("image", 81, 110, 10),
        *launched("after", 130, 140, 10),
    ],
    "an unused device": [*CALL, *launched("k", 12, 15, 85), *launched("k", 150, 160, 5, 1, 1)],
    "random 0": random_trace(random.Random(0), has_device=True),
    "random 1": random_trace(random.Random(1), has_device=True),
}
Rows = Callable[[str], Relations]


@pytest.fixture(scope="module")
def rows_of() -> Rows:
    """A function after whose call the relations of stages have the rows of one trace."""
    groups = {"host": ON_HOST, "device": ON_DEVICE}
    relations = built({run: ranks(traces.values()) for run, traces in groups.items()})
    places = {
        name: (run, rank) for run, traces in groups.items() for rank, name in enumerate(traces)
    }

    def narrowed(name: str) -> Relations:
        run, rank = places[name]
        for view in ("stages", "stage_parts", "stage_calls", "stage_summary"):
            relations.execute(
                f"CREATE OR REPLACE TEMP TABLE {view} AS FROM memory.main.{view} "
                f"WHERE run_id = '{run}' AND rank = {rank}"
            )
        return relations

    return narrowed


def test_a_call_is_divided_by_stage_step_and_block(rows_of: Rows) -> None:
    found = cells(rows_of("a call"), "occurrences, host_ns // 1000, operators, peak_bytes")
    assert {known for *_, known in found.values()} == {None}
    assert {cell: tuple(row[:3]) for cell, row in found.items()} == {
        ("other", None, None): (1, 10 + 10 + 10 + 5, 0),
        ("encode", None, None): (1, 10, 1),
        ("denoise", None, None): (1, 1, 0),
        ("denoise", 0, None): (1, 4, 0),
        ("denoise", 0, "Double"): (2, 10, 2),
        ("denoise", 0, "Single"): (1, 5, 0),
        ("denoise", 1, None): (1, 10, 0),
        ("denoise", 1, "Double"): (1, 10, 0),
        ("decode", None, None): (1, 15, 0),
    }


def test_labels_outside_calls_are_ignored(rows_of: Rows) -> None:
    """The stages of a call that began before the recording are in no recorded call."""
    query = "SELECT pipeline, call, stage, host_ns FROM stages"
    rows = rows_of("labels outside calls").sql(query).fetchall()
    assert rows == [("A", 1, "other", 5000)]


def test_the_outermost_of_nested_pipelines_counts(rows_of: Rows) -> None:
    connection = rows_of("nested pipelines")
    assert connection.sql("SELECT DISTINCT pipeline, call FROM stages").fetchall() == [("Outer", 1)]
    assert cells(connection, "host_ns // 1000") == {
        ("other", None, None): 20,
        ("denoise", None, None): 60,
        ("encode", None, None): 10,
    }


def test_calls_are_numbered_per_file() -> None:
    files = {
        f"{name}-rank0.json": {"traceEvents": [mark("pipeline: A", start, 10) for start in starts]}
        for name, starts in (("one", (0, 20)), ("two", (40,)))
    }
    rows = built(Run(files)).sql("SELECT rank, start_ns // 1000, call FROM stages ORDER BY ALL")
    assert rows.fetchall() == [(0, 0, 1), (0, 20, 2), (0, 40, 1)]


def test_a_step_that_outlasts_the_loop_ends_with_it(rows_of: Rows) -> None:
    """This happens if a pipeline fails in its loop."""
    assert cells(rows_of("a step that outlasts the loop"), "host_ns // 1000") == {
        ("other", None, None): 30,
        ("denoise", None, None): 10,
        ("denoise", 1, None): 10,
    }


def test_parts_of_a_call_on_a_device(rows_of: Rows) -> None:
    found = parts_of(rows_of("parts of a call on a device"))
    assert found == {
        ("other", None, None): {"idle": 5, "compute": 5},  # work from before the call
        ("encode", None, None): {"idle": 5, "compute": 10},
        ("denoise", 0, "Double"): {"idle": 15, "compute": 5},
        ("denoise", 1, "Double"): {"idle": 15, "compute": 5},
        ("decode", None, None): {"idle": 45, "compute": 10},
    }
    assert sum(sum(parts.values()) for parts in found.values()) == 120


def test_a_device_that_a_call_does_not_use_waits_during_the_entire_call(rows_of: Rows) -> None:
    found = found_parts(rows_of("an unused device"))
    assert found[0, 1]["encode", None, None]["compute"] == 85_000
    assert {part for parts in found[1, 1].values() for part in parts} == {"idle"}
    assert sum(parts["idle"] for parts in found[1, 1].values()) == 100_000


def test_parts_of_a_call_on_a_host(rows_of: Rows) -> None:
    found = parts_of(rows_of("parts of a call"))
    assert found == {
        ("other", None, None): {"idle": 5 + 15, "compute": 5 + 5},
        ("encode", None, None): {"compute": 5 + 8 + 5, "overlap": -3, "idle": 5},
    }


def test_peak_memory_is_measured_during_each_stage(rows_of: Rows) -> None:
    found = cells(rows_of("memory"), "peak_bytes")
    expected = {"other": 100, "encode": 150, "denoise": 100, "decode": 110}
    assert found == {cell: expected[cell[0]] for cell in found}


def test_the_summary_shows_the_median_call(traces: Traces, command: Command) -> None:
    calls = [mark("pipeline: A", start, length) for start, length in ((0, 30), (40, 20), (70, 99))]
    stages = [mark("stage: decode", 5, 5), mark("stage: denoise", 75, 50)]
    connection = traces.add(
        [*calls, *stages, mark("block: B", 80, 10), mark("block: B", 95, 10), op("mm", 1, 2)]
    )
    columns = "level, stage, block_class, call, calls, occurrences, wall_ns // 1000"
    assert connection.sql(f"SELECT {columns} FROM stage_summary").fetchall() == [
        ("call", None, None, 1, 3, None, 30),
        ("stage", "decode", None, 1, 3, 1, 5),
        ("stage", "other", None, 1, 3, 1, 25),
    ]
    assert "decode" in command("show", "trace").out


def test_runs_are_compared_by_stage_and_block() -> None:
    """A denoiser that is compiled as a whole has no labels of blocks, so these are null."""
    shorter = [mark("pipeline: Other", 0, 40), mark("stage: denoise", 0, 40), op("mm", 1, 2)]
    connection = built(
        {
            "base": [*CALL, op("mm", 1, 2)],
            "other": [*shorter, mark("block: New", 10, 25)],
            "compiled": shorter,
        }
    )
    rows = connection.execute(
        "SELECT level, stage, block_class, base_ns // 1000, other_ns // 1000, change_ns // 1000 "
        "FROM stage_diff($1, $2)",
        ["base", "other"],
    ).fetchall()
    assert rows == [
        ("call", None, None, 100, 40, -60),
        ("stage", "encode", None, 10, 0, -10),
        ("stage", "denoise", None, 40, 40, 0),
        ("block", "denoise", "New", 0, 25, 25),
        ("block", "denoise", "Double", 20, 0, -20),
        ("block", "denoise", None, 15, 15, 0),
        ("block", "denoise", "Single", 5, 0, -5),
        ("stage", "decode", None, 15, 0, -15),
        ("stage", "other", None, 35, 0, -35),
    ]
    rows = connection.execute(
        "SELECT block_class, base_ns // 1000, other_ns, change_ns, percent, other_idle_ns "
        "FROM stage_diff($1, $2) WHERE level = 'block'",
        ["base", "compiled"],
    ).fetchall()
    assert rows == [
        ("Double", 20, None, None, None, None),
        (None, 15, None, None, None, None),
        ("Single", 5, None, None, None, None),
    ]


def wrong_sums(connection: Relations) -> list[Any]:
    """Return the rows whose stages do not add up to their call, or blocks to their stage."""
    return connection.sql(
        """
        WITH sums AS (
            SELECT
                call,
                device,
                level,
                if(level = 'block', stage, level) AS whole,
                sum(wall_ns) AS wall_ns,
                sum(host_ns) AS host_ns,
                sum(busy_ns + idle_ns) AS all_ns
            FROM stage_summary GROUP BY ALL
        ), wholes AS (
            SELECT call, device, 'block' AS level, stage AS whole, wall_ns, host_ns
            FROM stage_summary WHERE level = 'stage'
            UNION ALL
            SELECT call, device, unnest(['stage', 'call']), unnest(['stage', 'call']), wall_ns,
                host_ns
            FROM stage_calls
        )
        FROM sums JOIN wholes USING (call, level, whole)
        WHERE sums.device IS NOT DISTINCT FROM wholes.device
            AND (sums.wall_ns, sums.host_ns, sums.all_ns)
                <> (wholes.wall_ns, wholes.host_ns, wholes.wall_ns)
        """
    ).fetchall()


@pytest.mark.parametrize("name", ["random 0", "random 1", "random 2"])
def test_random_calls_equal_plain_python(name: str, rows_of: Rows) -> None:
    events = (ON_HOST | ON_DEVICE)[name]
    connection = rows_of(name)
    host_ns: dict[int, Counter[Cell]] = defaultdict(Counter)
    operators: dict[int, Counter[Cell]] = defaultdict(Counter)
    for call, stage, step, block, ns, count in connection.sql(
        "SELECT call, stage, step, block_class, host_ns, operators FROM stages"
    ).fetchall():
        host_ns[call][stage, step, block] = ns
        operators[call][stage, step, block] = count
    assert host_ns == stages_in_python.host_times(events)
    assert {call: +counts for call, counts in operators.items() if +counts} == dict(
        stages_in_python.operators(events)
    )
    found = found_parts(connection)
    assert nonzero(found) == nonzero(stages_in_python.parts(events))
    walls = {
        (device, call): sum(sum(parts.values()) for parts in found[device, call].values())
        for device, call in found
    }
    assert wrong_sums(connection) == []
    calls = stages_in_python.Marks(events).calls
    assert all(walls[key] >= calls[key[1] - 1].end - calls[key[1] - 1].start for key in walls)
