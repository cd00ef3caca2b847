"""The meaning of memory tables: small snapshots, with the rows that they must produce."""

import json
import pickle
from pathlib import Path
from typing import Any

import duckdb
import pytest

import ingest
from tests.builders.relations import Relations, built

START_US = 1_700_000_000_000_000
MODEL = {"name": "forward", "filename": "/home/ada/net/model.py", "line": 12}
LINEAR = {
    "name": "forward",
    "filename": "/opt/env/lib/python3.11/site-packages/torch/nn/modules/linear.py",
    "line": 125,
}
CALL = {
    "name": "_call_impl",
    "filename": "/opt/env/lib/python3.11/site-packages/torch/nn/modules/module.py",
    "line": 1751,
}
FLUX = {
    "name": "forward",
    "filename": "/opt/env/lib/python3.11/site-packages/diffusers/models/transformer_flux.py",
    "line": 40,
}
CAPTURE = {"name": "call", "filename": "/home/ada/tracehouse/capture/pipelines/calls.py", "line": 9}
MAIN = {"name": "<module>", "filename": "/home/ada/tracehouse/capture/__main__.py", "line": 5}
HOOK = {
    "name": "new_forward",
    "filename": "/opt/env/lib/python3.11/site-packages/accelerate/hooks.py",
    "line": 192,
}
NATIVE = {"name": "PyObject_Call", "filename": "??", "line": 0}


def event(action: str, address: int, size: int, **more: Any) -> dict[str, Any]:
    return {"action": action, "addr": address, "size": size, "stream": 0, "frames": []} | more


def snapshot(
    *events: dict[str, Any], segments: list[dict[str, Any]] | None = None, **more: Any
) -> dict[str, Any]:
    """Return a snapshot of events that are a microsecond apart, and of these segments."""
    timed = [{"time_us": START_US + number, **each} for number, each in enumerate(events)]
    return {"segments": segments or [], "device_traces": [timed], **more}


def segment(address: int, *blocks: tuple[str, int, int], **more: Any) -> dict[str, Any]:
    """Return a segment with these blocks: (state, size, requested size)."""
    at, built = address, []
    for state, size, requested in blocks:
        built.append(
            {"address": at, "size": size, "requested_size": requested, "state": state, "frames": []}
        )
        at += size
    active = sum(size for state, size, _ in blocks if state != "inactive")
    return {
        "device": 0,
        "address": address,
        "total_size": at - address,
        "allocated_size": active,
        "active_size": active,
        "requested_size": sum(size for state, _, size in blocks if state != "inactive"),
        "stream": 0,
        "segment_type": "large",
        "segment_pool_id": (0, 0),
        "is_expandable": False,
        "frames": [],
        "blocks": built,
    } | more


class Memory:
    """The files of one run, which a test writes, and its relations."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory / "run"
        self.directory.mkdir()

    def write(self, content: dict[str, Any], name: str = "memory.pickle") -> None:
        (self.directory / name).write_bytes(pickle.dumps(content, protocol=4))

    def built(self) -> Relations:
        return built(self.directory)

    def of(self, *events: dict[str, Any], **more: Any) -> Relations:
        self.write(snapshot(*events, **more))
        return self.built()

    def add(self, store: ingest.Store, **labels: Any) -> duckdb.DuckDBPyConnection:
        """Add the run to a store, which also redacts. Return a connection to it."""
        store.add(self.directory, ingest.AddOptions(**labels))
        return ingest.connect(store.path)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(tmp_path)


def rows(connection: duckdb.DuckDBPyConnection | Relations, query: str) -> list[tuple[Any, ...]]:
    return connection.sql(query).fetchall()


def test_memory_with_a_pending_free_is_active_but_not_allocated(memory):
    connection = memory.of(
        event("alloc", 0x1000, 100),
        event("free_requested", 0x1000, 100),
        event("alloc", 0x2000, 30),
        event("free_completed", 0x1000, 100),
        event("free_requested", 0x2000, 30),
        event("free_completed", 0x2000, 30),
        segments=[segment(0x1000, ("inactive", 0x2000, 0))],
    )
    assert rows(
        connection,
        "SELECT ordinal, action, active_bytes, allocated_bytes FROM memory_timeline ORDER BY 1",
    ) == [
        (-1, None, 0, 0),
        (0, "alloc", 100, 100),
        (1, "free_requested", 100, 0),
        (2, "alloc", 130, 30),
        (3, "free_completed", 30, 30),
        (4, "free_requested", 0, 0),
        (5, "free_completed", 0, 0),
    ]
    assert rows(
        connection,
        "SELECT alloc_ordinal, free_requested_ordinal, free_ordinal, free_ns - alloc_ns "
        "FROM memory_allocations ORDER BY 1",
    ) == [(0, 1, 3, 3000), (2, 4, 4, 2000)]
    moment = f"FROM memory_moments('run', {(START_US + 2) * 1000})"
    assert rows(
        connection,
        f"WITH moment AS ({moment}) "
        "SELECT address, state FROM memory_allocations_at('moment') ORDER BY 1",
    ) == [
        (0x1000, "pending"),
        (0x2000, "allocated"),
    ]


def test_memory_with_a_free_pending_before_the_trace_is_not_allocated(memory):
    connection = memory.of(
        event("free_completed", 0x1000, 100),
        event("free_requested", 0x2000, 30),
        event("free_completed", 0x2000, 30),
        segments=[segment(0x3000, ("active_allocated", 512, 7))],
    )
    assert rows(
        connection,
        "SELECT ordinal, active_bytes, allocated_bytes FROM memory_timeline ORDER BY ordinal",
    ) == [(-1, 137, 37), (0, 37, 37), (1, 7, 7), (2, 7, 7)]
    assert rows(connection, "SELECT origin, bytes FROM memory_allocations ORDER BY bytes") == [
        ("snapshot_only", 7),
        ("before_trace", 30),
        ("before_trace", 100),
    ]


def test_expandable_segments_grow_and_shrink_in_parts(memory):
    connection = memory.of(
        event("segment_map", 0x10000, 0x4000),
        event("alloc", 0x10000, 0x3000),
        event("segment_map", 0x14000, 0x2000),
        event("alloc", 0x13000, 0x3000),
        event("free_requested", 0x13000, 0x3000),
        event("free_completed", 0x13000, 0x3000),
        event("segment_unmap", 0x13000, 0x3000),
        segments=[segment(0x10000, ("active_allocated", 0x3000, 0x3000), is_expandable=True)],
    )
    assert rows(connection, "SELECT reserved_bytes FROM memory_timeline ORDER BY ordinal") == [
        (size,) for size in (0, 0x4000, 0x4000, 0x6000, 0x6000, 0x6000, 0x6000, 0x3000)
    ]
    layout = (
        "WITH moment AS (FROM memory_timeline WHERE ordinal = {}) "
        "SELECT segment_bytes, address, bytes, state "
        "FROM memory_layout_at('moment') ORDER BY address"
    )
    assert rows(connection, layout.format(3)) == [
        (0x6000, 0x10000, 0x3000, "allocated"),
        (0x6000, 0x13000, 0x3000, "allocated"),
    ]
    assert rows(connection, layout.format(5)) == [
        (0x6000, 0x10000, 0x3000, "allocated"),
        (0x6000, 0x13000, 0x3000, "free"),
    ]
    assert rows(connection, layout.format(6)) == [(0x3000, 0x10000, 0x3000, "allocated")]


def test_oom_report_shows_the_memory_at_the_error_and_not_at_the_snapshot(memory):
    connection = memory.of(
        event("segment_alloc", 0x10000, 0x3000),
        event("alloc", 0x10000, 0x1000, frames=[MODEL]),
        event("alloc", 0x12000, 0x800, frames=[MODEL]),
        {
            "action": "oom",
            "size": 0x9000,
            "device_free": 0x700,
            "stream": 0,
            "frames": [LINEAR, CALL, MODEL],
        },
        event("free_requested", 0x10000, 0x1000),
        event("free_completed", 0x10000, 0x1000),
        event("free_requested", 0x12000, 0x800),
        event("free_completed", 0x12000, 0x800),
        event("segment_free", 0x10000, 0x3000),
    )
    assert rows(
        connection,
        "SELECT ordinal, requested_bytes, device_free_bytes, reserved_bytes, active_bytes, "
        "free_bytes, largest_free_bytes, user_frame, top_owners FROM oom_report",
    ) == [
        (
            3, 0x9000, 0x700, 0x3000, 0x1800, 0x1800, 0x1000, "model.py:12 forward",
            [{"name": "model.py:12 forward", "bytes": 0x1800, "allocations": 2}],
        )
    ]  # fmt: skip


def test_user_frames_and_modules_come_from_the_stacks(memory):
    connection = memory.of(
        event("alloc", 0x1000, 1, frames=[NATIVE, LINEAR, NATIVE, CALL, MODEL, CALL]),
        event("alloc", 0x2000, 2, frames=[NATIVE, MODEL, NATIVE, CALL, NATIVE]),
        event("alloc", 0x3000, 3, frames=[LINEAR]),
        event("alloc", 0x4000, 4, frames=[NATIVE]),
        event("alloc", 0x5000, 5),
        event("alloc", 0x6000, 6, frames=[LINEAR, HOOK, CALL, FLUX, CALL, CAPTURE, MAIN]),
        event("alloc", 0x7000, 7, frames=[LINEAR, HOOK, CALL, FLUX, CALL, CAPTURE, MODEL]),
        segments=[
            segment(at, ("active_allocated", 512, at >> 12)) for at in range(0x1000, 0x8000, 0x1000)
        ],
    )
    assert rows(
        connection,
        "SELECT bytes, user_frame, stacks.module FROM memory_allocations "
        "LEFT JOIN stacks USING (run_id, stack_id) ORDER BY bytes",
    ) == [
        (1, "model.py:12 forward", "torch.nn.modules.linear"),
        (2, "model.py:12 forward", "model.py forward"),
        (3, "linear.py:125 forward", None),
        (4, "??:0 PyObject_Call", None),
        (5, None, None),
        (6, "transformer_flux.py:40 forward", "torch.nn.modules.linear"),
        (7, "model.py:12 forward", "torch.nn.modules.linear"),
    ]
    assert rows(connection, "SELECT count(*), count(DISTINCT filename) FROM frames") == [(8, 8)]
    assert rows(
        connection,
        "SELECT level, name, is_known, bytes, allocations FROM memory_by_owner "
        "WHERE level IN ('frame', 'module') ORDER BY level DESC, bytes DESC, name",
    ) == [
        ("module", "torch.nn.modules.linear", True, 14, 3),
        ("module", "(no module)", False, 12, 3),
        ("module", "model.py forward", True, 2, 1),
        ("frame", "model.py:12 forward", True, 10, 3),
        ("frame", "transformer_flux.py:40 forward", True, 6, 1),
        ("frame", "(no stack)", False, 5, 1),
        ("frame", "??:0 PyObject_Call", True, 4, 1),
        ("frame", "linear.py:125 forward", True, 3, 1),
    ]


def test_functions_that_a_library_wrote_as_text_are_not_the_users(memory):
    written = {"name": "op1", "filename": "<string>", "line": 3}
    command = {"name": "<module>", "filename": "<string>", "line": 1}  # python -c
    connection = memory.of(
        event("alloc", 0x1000, 1, frames=[written, LINEAR, MODEL]),
        event("alloc", 0x2000, 2, frames=[LINEAR, command]),
        segments=[segment(at, ("active_allocated", 512, at >> 12)) for at in (0x1000, 0x2000)],
    )
    assert rows(
        connection,
        "SELECT bytes, user_frame FROM memory_allocations "
        "LEFT JOIN stacks USING (run_id, stack_id) ORDER BY bytes",
    ) == [(1, "model.py:12 forward"), (2, "<string>:1 <module>")]


def test_leaks_lists_memory_that_steps_leave_behind(memory):
    def step(number: int) -> list[dict[str, Any]]:
        leak, work = 0x1000 * (number + 1), 0x90000
        return [
            event("alloc", leak, 10, frames=[MODEL]),
            event("alloc", work, 500, frames=[LINEAR]),
            event("free_requested", work, 500),
            event("free_completed", work, 500),
        ]

    events = [event("alloc", 0x70000, 1_000, frames=[CALL])]
    marks = []
    for number in range(4):
        events += step(number)
        end = START_US + len(events)
        events.append(event("alloc", 0x50000 + 0x1000 * number, 1))
        for stage in ("START", "END"):
            marks.append(
                {"name": "Optimizer.step#SGD.step", "stage": stage, "device": 0, "time_us": end}
            )
    connection = memory.of(*events, external_annotations=marks)
    assert rows(
        connection,
        "SELECT step, start_ordinal, end_ordinal, origin FROM memory_steps ORDER BY step",
    ) == [
        (0, 0, 5, "optimizer"),
        (1, 5, 10, "optimizer"),
        (2, 10, 15, "optimizer"),
        (3, 15, 20, "optimizer"),
    ]
    assert rows(
        connection,
        "SELECT user_frame, bytes, allocations, steps, first_step, last_step, bytes_a_step, "
        "is_growing "
        "FROM leaks ORDER BY bytes DESC",
    ) == [
        ("model.py:12 forward", 30, 3, 3, 1, 3, 10.0, True),
        ("(no stack)", 3, 3, 3, 1, 3, 1.0, True),
    ]


def test_annotations_are_paired_and_a_lone_end_is_kept(memory):
    def mark(name: str, stage: str, after: int) -> dict[str, Any]:
        return {"name": name, "stage": stage, "device": 0, "time_us": START_US + after}

    connection = memory.of(
        *(event("alloc", 0x1000 * number, 1) for number in range(1, 9)),
        external_annotations=[
            mark("a", "END", 1), mark("a", "START", 2), mark("a", "START", 3),
            mark("b", "START", 4), mark("a", "END", 5), mark("a", "END", 6),
        ],
    )  # fmt: skip
    assert rows(
        connection,
        f"SELECT name, start_ns // 1000 - {START_US}, end_ns // 1000 - {START_US}, start_ordinal, "
        "end_ordinal FROM memory_annotations ORDER BY coalesce(start_ns, end_ns)",
    ) == [
        ("a", None, 1, None, 1),
        ("a", 2, 6, 2, 6),
        ("a", 3, 5, 3, 5),
        ("b", 4, None, 4, None),
    ]


def trace(directory: Path) -> None:
    """Return a step with two operators, one inside the other, on the snapshot's clock."""
    spans = [
        ("user_annotation", "ProfilerStep#3", 0, 100),
        ("cpu_op", "aten::linear", 10, 20),
        ("cpu_op", "aten::addmm", 12, 10),
        ("python_function", "nn.Module: Linear_0", 8, 40),
        ("cpu_op", "aten::relu", 40, 4),
    ]
    events = [
        {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur, "args": {}}
        for cat, name, ts, dur in spans
    ]
    content = {"baseTimeNanoseconds": START_US * 1000, "traceEvents": events}
    (directory / "trace.json").write_text(json.dumps(content))


def test_with_a_trace_of_the_rank_allocations_have_operators_and_steps(memory):
    trace(memory.directory)
    events = [
        event("alloc", 0x1000 * (1 + number), 1, time_us=START_US + at)
        for number, at in enumerate((5, 15, 25, 41, 60, 200))
    ]
    connection = memory.of(*events)
    assert rows(connection, "SELECT kind, rank FROM sources ORDER BY kind") == [
        ("kineto", 0), ("memory_snapshot", 0),
    ]  # fmt: skip
    assert rows(
        connection,
        f"SELECT alloc_ns // 1000 - {START_US}, made.op, made.module, made.step, ops.name "
        "FROM memory_allocations AS made LEFT JOIN ops USING (run_id) "
        "WHERE ops.event_id = op_id OR (op_id IS NULL AND ops.name = 'aten::relu') ORDER BY 1",
    ) == [
        (5, None, None, 3, "aten::relu"),
        (15, "aten::addmm", "nn.Module: Linear_0", 3, "aten::addmm"),
        (25, "aten::linear", "nn.Module: Linear_0", 3, "aten::linear"),
        (41, "aten::relu", "nn.Module: Linear_0", 3, "aten::relu"),
        (60, None, None, 3, "aten::relu"),
        (200, None, None, None, "aten::relu"),
    ]


def test_a_trace_on_another_clock_does_not_apply_to_a_snapshot(memory):
    trace(memory.directory)
    file = memory.directory / "trace.json"
    file.write_text(file.read_text().replace('"baseTimeNanoseconds"', '"base"'))
    connection = memory.of(event("alloc", 0x1000, 1, time_us=START_US + 15))
    assert rows(connection, "SELECT op, step FROM memory_allocations") == [(None, None)]


def test_a_damaged_snapshot_does_not_affect_other_files(memory):
    memory.write(snapshot(event("alloc", 0x1000, 1)), "rank0.pickle")
    content = (memory.directory / "rank0.pickle").read_bytes()
    (memory.directory / "rank1.pickle").write_bytes(content[:-40])
    connection = memory.built()
    assert rows(connection, "SELECT rank, status FROM sources ORDER BY rank") == [
        (0, "ok"), (1, "failed"),
    ]  # fmt: skip
    assert rows(connection, "SELECT rank, end_bytes FROM memory_peak") == [(0, 1)]


def test_stacks_of_all_snapshots_of_a_run_are_stored_once(memory):
    for rank in range(3):
        memory.write(
            snapshot(event("alloc", 0x1000 + rank, 1, frames=[LINEAR, MODEL])),
            f"memory-rank{rank}.pickle",
        )
    connection = memory.built()
    assert rows(connection, "SELECT count(*) FROM frames") == [(2,)]
    assert rows(connection, "SELECT stack_id, frame_ids FROM stacks") == [(0, [0, 1])]
    assert rows(connection, "SELECT rank, stack_id FROM memory_allocations ORDER BY rank") == [
        (0, 0), (1, 0), (2, 0),
    ]  # fmt: skip


def test_paths_are_redacted_on_request(memory, store):
    trace(memory.directory)
    file = memory.directory / "trace.json"
    file.write_text(file.read_text().replace("nn.Module: Linear_0", "/home/ada/x.py(3): run"))
    here = str(Path.cwd() / "scripts" / "train.py")
    memory.write(
        snapshot(
            event("alloc", 0x1000, 1, frames=[LINEAR, MODEL]),
            event("alloc", 0x2000, 1, frames=[{"name": "main", "filename": here, "line": 1}]),
            event(
                "alloc", 0x3000, 1,
                frames=[{"name": "f", "filename": "C:\\Users\\ada\\y.py", "line": 2}],
            ),
        )
    )  # fmt: skip
    connection = memory.add(store, redact_paths=True)
    assert rows(connection, "SELECT filename FROM frames ORDER BY frame_id") == [
        ("site-packages/torch/nn/modules/linear.py",),
        ("model.py",),
        ("scripts/train.py",),
        ("y.py",),
    ]
    assert rows(connection, "SELECT name FROM events WHERE category = 'python_function'") == [
        ("x.py(3): run",)
    ]
    assert rows(connection, "SELECT path FROM sources ORDER BY path") == [
        ("run/memory.pickle",), ("run/trace.json",),
    ]  # fmt: skip
    assert rows(connection, "SELECT user_frame FROM stacks ORDER BY stack_id")[0] == (
        "model.py:12 forward",
    )


def test_secrets_in_user_metadata_are_redacted(memory, store):
    secret = "hf_" + "a" * 30
    memory.write(
        snapshot(
            event("alloc", 0x1000, 1, user_metadata=f"loading with {secret}"),
            event("alloc", 0x2000, 1, user_metadata="plain"),
        )
    )
    connection = memory.add(store)
    assert rows(connection, "SELECT user_metadata FROM memory_events ORDER BY ordinal") == [
        ("loading with [redacted]",), ("plain",),
    ]  # fmt: skip


def test_blocks_with_a_pending_free_are_in_use(memory):
    connection = memory.of(
        event("free_requested", 0x1000, 100),
        segments=[
            segment(0x1000, ("active_pending_free", 512, 100), ("active_allocated", 512, 7)),
            segment(0x4000, ("active_pending_free", 512, 30)),
        ],
    )
    assert rows(
        connection,
        "SELECT ordinal, active_bytes, allocated_bytes FROM memory_timeline ORDER BY ordinal",
    ) == [(-1, 137, 107), (0, 137, 7)]
    assert rows(
        connection, "SELECT bytes, free_requested_ordinal FROM memory_allocations ORDER BY bytes"
    ) == [(7, None), (30, -1), (100, 0)]
    assert rows(connection, "SELECT warnings FROM sources") == [([],)]


def test_steps_without_actions_have_no_allocations(memory):
    trace(memory.directory)
    file = memory.directory / "trace.json"
    content = json.loads(file.read_text())
    first = content["traceEvents"][0]
    content["traceEvents"] += [
        {**first, "name": "ProfilerStep#1", "ts": -30, "dur": 5},
        {**first, "name": "ProfilerStep#2", "ts": -20, "dur": 5},
    ]
    content["traceEvents"].append({**first, "name": "ProfilerStep#4", "ts": 300, "dur": 5})
    file.write_text(json.dumps(content))
    events = [event("alloc", 0x1000 + at, 1, time_us=START_US + at) for at in (-10, 5, 15)]
    connection = memory.of(*events)
    assert rows(connection, "SELECT step FROM memory_allocations ORDER BY alloc_ordinal") == [
        (None,), (3,), (3,),
    ]  # fmt: skip


def test_a_step_continues_after_an_inner_step_ends(memory):
    trace(memory.directory)
    file = memory.directory / "trace.json"
    content = json.loads(file.read_text())
    [around] = (e for e in content["traceEvents"] if e["name"].startswith("ProfilerStep#"))
    inside = {**around, "name": "ProfilerStep#7", "ts": around["ts"] + 10, "dur": 10}
    content["traceEvents"].append({**inside})
    file.write_text(json.dumps(content))
    outer = int(around["name"].partition("#")[2])
    at = [around["ts"] + after for after in (5, 15, 25, around["dur"] + 5)]
    events = [event("alloc", 0x1000 * n, 1, time_us=START_US + t) for n, t in enumerate(at, 1)]
    connection = memory.of(*events)
    assert rows(connection, "SELECT step FROM memory_allocations ORDER BY alloc_ordinal") == [
        (outer,), (7,), (outer,), (None,),
    ]  # fmt: skip


def test_the_optimizer_with_most_steps_defines_the_steps(memory):
    marks = [
        {"name": f"Optimizer.step#{name}.step", "stage": stage, "device": 0,
         "time_us": START_US + at}
        for at, name in ((2, "A"), (3, "B"), (6, "A"), (7, "B"), (8, "A"))
        for stage in ("START", "END")
    ]  # fmt: skip
    connection = memory.of(
        *(event("alloc", 0x1000 * number, 1) for number in range(1, 11)), external_annotations=marks
    )
    assert rows(
        connection, "SELECT step, start_ordinal, end_ordinal FROM memory_steps ORDER BY step"
    ) == [(0, 0, 2), (1, 2, 6), (2, 6, 8), (3, 8, 10)]


def test_a_released_segment_does_not_get_the_pool_of_another(memory):
    connection = memory.of(
        event("segment_free", 0x900000, 0x1000),
        segments=[segment(0x1000, ("inactive", 512, 0), segment_pool_id=(7, 9))],
    )
    assert rows(connection, "SELECT address, pool FROM memory_reservations ORDER BY address") == [
        (0x1000, "(7, 9)"), (0x900000, None),
    ]  # fmt: skip


def test_impossible_sizes_are_refused(memory):
    for size in (-5, 1 << 62):
        memory.write(snapshot(event("alloc", 0x1000, size)))
        with pytest.raises(ingest.IngestError, match=f"action 0 of device 0 .*: {size:,} bytes"):
            memory.built()


def instants(memory: Memory, *args: dict[str, Any]) -> Relations:
    """Return the relations of a trace of `[memory]` events that are a microsecond apart."""
    events = [
        {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": at, "args": each}
        for at, each in enumerate(args)
    ]
    (memory.directory / "trace.json").write_text(json.dumps({"traceEvents": events}))
    return memory.built()


def test_only_invalid_memory_events_of_a_trace_are_ignored(memory):
    connection = instants(
        memory,
        {"Bytes": 100, "Addr": 1, "Device Type": 1},
        {"Bytes": -(1 << 63), "Addr": 1, "Device Type": 0, "Device Id": -1},
        {"Bytes": 30, "Addr": 2, "Device Type": 0, "Device Id": -1, "Total Allocated": 30},
        {"Bytes": -30, "Addr": 2, "Device Type": 0, "Device Id": -1, "Total Allocated": 0},
    )
    assert rows(
        connection,
        "SELECT device_type, device, ordinal, action, bytes, allocated_bytes FROM memory_events "
        "ORDER BY ALL",
    ) == [
        ("cpu", None, 0, "alloc", 30, 30),
        ("cpu", None, 1, "free", 30, 0),
        ("cuda", None, 0, "alloc", 100, 100),
    ]
    assert rows(connection, "SELECT count(*) FROM other_events") == [(4,)]


def test_totals_are_null_for_events_that_did_not_record_them(memory):
    totals = {"Device Type": 1, "Device Id": 0}
    connection = instants(
        memory,
        {"Bytes": 10, "Addr": 1, "Total Allocated": 110, "Total Reserved": 500, **totals},
        {"Bytes": 10, "Addr": 2, "Total Allocated": 120, **totals},
        {"Bytes": -10, "Addr": 2, "Total Allocated": 110, "Total Reserved": 600, **totals},
    )
    assert rows(
        connection, "SELECT allocated_bytes, reserved_bytes FROM memory_events ORDER BY ordinal"
    ) == [(110, 500), (120, None), (110, 600)]
    for ordinal in (-1, 0, 2):
        moment = f"WITH moment AS (FROM memory_timeline WHERE ordinal = {ordinal})"
        held = f"{moment} SELECT name, is_known, bytes FROM memory_by_owner_at('moment')"
        assert rows(connection, f"{held} WHERE level = 'op' ORDER BY 1")[0] == (
            ("(before the trace)", False, 100)
        )


def test_a_snapshot_without_times_has_no_moments_in_time(memory):
    untimed = {"action": "alloc", "addr": 1, "size": 5, "stream": 0}
    memory.write({"segments": [], "device_traces": [[untimed]]})
    connection = memory.built()
    assert rows(connection, f"FROM memory_moments('run', {START_US})") == []
    assert rows(connection, "SELECT end_bytes FROM memory_peak") == [(5,)]


def test_settings_that_are_secrets_are_redacted(memory, store):
    memory.write(snapshot(event("alloc", 1, 1), allocator_settings={"auth_token": "abcdefgh"}))
    connection = memory.add(store)
    assert rows(connection, "SELECT value FROM allocator_settings") == [("[redacted]",)]
    ((warnings,),) = rows(connection, "SELECT warnings FROM sources")
    assert "redacted text that looks like a secret in 1 text" in warnings


@pytest.mark.parametrize(("address", "size"), [((1 << 64) - 512, 512), (0x1000, -5)])
def test_impossible_segments_fail_only_their_file(memory, address, size):
    memory.write(snapshot(event("alloc", 0x1000, 1)), "rank0.pickle")
    odd = segment(0x1000, ("inactive", 512, 0)) | {"address": address, "total_size": size}
    memory.write(snapshot(event("alloc", 0x2000, 7), segments=[odd]), "rank1.pickle")
    connection = memory.built()
    assert rows(connection, "SELECT rank, bytes FROM memory_events") == [(0, 1)]
    assert rows(connection, "SELECT rank, status FROM sources ORDER BY rank") == [
        (0, "ok"), (1, "failed"),
    ]  # fmt: skip


def test_a_device_without_segments_holds_no_memory(memory):
    connection = memory.of(event("alloc", 0x1000, 5))
    assert rows(connection, "SELECT peak_bytes, peak_reserved_bytes FROM memory_peak") == [(5, 0)]
    [(codes,)] = rows(connection, "SELECT warning_codes FROM sources")
    assert "memory_over_reserved" in codes


MIB = 1 << 20


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        # 1 MiB is in use and 999 are free: 49 whole pages of 20 MiB, and 19 MiB before them.
        ({"is_expandable": True}, [(0, 1, "allocated"), (1, 19, "stranded"), (20, 980, "free")]),
        ({"is_expandable": False}, [(0, 1, "allocated"), (1, 999, "stranded")]),
        (
            {"is_expandable": True, "segment_type": "small"},
            [(0, 1, "allocated"), (1, 1, "stranded"), (2, 998, "free")],
        ),
        (
            {"is_expandable": True, "config": "large_segment_size_mb:64"},
            [
                (0, 1, "allocated"),
                (1, 63, "stranded"),
                (64, 896, "free"),
                (960, 40, "stranded"),
            ],
        ),
    ],
    ids=["large", "not expandable", "small", "own page size"],
)
@pytest.mark.parametrize("is_replayed", [False, True])
def test_whole_pages_of_an_expandable_segment_are_not_stranded(more, expected, is_replayed, memory):
    """After the last action, blocks are those of the snapshot. Before it, they are replayed."""
    fields = {key: value for key, value in more.items() if key != "config"}
    base = 0x7F0000000000
    blocks = [("active_allocated", MIB, MIB), ("inactive", 999 * MIB, 0)]
    other = event("alloc", base + (1 << 40), 1), event("free_completed", base + (1 << 40), 1)
    connection = memory.of(
        *(other if is_replayed else ()),
        segments=[segment(base, *blocks, **fields)],
        allocator_settings={"PYTORCH_CUDA_ALLOC_CONF": more.get("config", "")},
    )

    moment = "(SELECT * FROM memory_timeline WHERE ordinal = -1)"
    connection.sql(f"CREATE TEMP VIEW moments AS FROM {moment}")
    found = rows(
        connection,
        "SELECT offset_bytes // 1048576, bytes // 1048576, state "
        "FROM memory_map('moments', 9, 99) ORDER BY offset_bytes",
    )
    assert found == expected
    stranded = sum(bytes for _, bytes, state in expected if state == "stranded")
    assert (
        rows(connection, "SELECT stranded_bytes // 1048576 FROM fragmentation") == [(stranded,)] * 3
    )
    assert rows(
        connection, "SELECT bytes // 1048576 FROM memory_advice WHERE kind = 'fragmentation'"
    ) == [(stranded,)]
