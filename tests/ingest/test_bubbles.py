"""Idle gaps and their causes: gaps of real traces read by hand, and small traces for each edge.

`gaps_checked_by_hand.json` holds gaps that were worked out from the raw events before looking at
the product's answer; `seen` says what the events show. `disputed` marks those where the product
answers otherwise: it fails the day it no longer does, and the mark can go.
"""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

BY_HAND = json.loads(
    Path(__file__).with_name("gaps_checked_by_hand.json").read_text(encoding="utf-8")
)


def marked(case: dict[str, Any]) -> Any:
    reason = case.get("disputed")
    marks = [pytest.mark.xfail(strict=True, reason=reason)] if reason else []
    return pytest.param(case, id=f"{case['run']} at {case['start_ns']}", marks=marks)


@pytest.mark.parametrize("gap", [marked(gap) for gap in BY_HAND])
def test_gaps_checked_by_hand(
    gap: dict[str, Any], store_of_samples: duckdb.DuckDBPyConnection
) -> None:
    rows = store_of_samples.execute(
        """
        SELECT dur_ns, before_kernel, after_kernel, cause, host_op, host_frame
        FROM bubbles INNER JOIN runs USING (run_id) WHERE name = ? AND start_ns = ?
        """,
        [gap["run"], gap["start_ns"]],
    ).fetchall()
    # The file gives the beginnings of the kernels' long names.
    found = [(d, b[: len(gap["before"])], a[: len(gap["after"])], *rest) for d, b, a, *rest in rows]
    keys = ("dur_ns", "before", "after", "cause", "host_op", "host_frame")
    assert found == [tuple(gap.get(key) for key in keys)], gap["seen"]


def test_gaps_checked_by_hand_cover_every_cause() -> None:
    causes = {"host", "sync", "dataloader", "compile", "dependency", "launch", "unknown"}
    assert {gap["cause"] for gap in BY_HAND if "disputed" not in gap} == causes


# Gaps and ns lost to each cause, counted in plain Python over the whole trace.
TOTALS = {
    "v100_resnet50_workers0": {
        "dataloader": (5, 285_214_000),  # of 393 ms
        "host": (1471, 94_821_000),
        "launch": (7433, 10_243_000),
        "sync": (12, 2_641_000),
    },
    "v100_resnet50_workers4": {  # as much work, but the loader's workers keep up
        "host": (1799, 172_185_000),
        "launch": (7345, 12_111_000),
        "sync": (12, 2_841_000),
    },
    # Of 511.5 ms. Disputed copies of pageable memory: 55 gaps, 3.6 ms, are either.
    "h100_owlv2": {
        "dataloader": (4, 492_726_150),
        "host or sync": (145, 12_018_990),
        "launch": (5015, 6_783_762),
    },
}


@pytest.mark.parametrize("run", TOTALS)
def test_time_lost_to_each_cause(run: str, store_of_samples: duckdb.DuckDBPyConnection) -> None:
    rows = store_of_samples.execute(
        """
        SELECT
            if(cause IN ('host', 'sync') AND $2, 'host or sync', cause) AS cause,
            count(*), sum(dur_ns)::BIGINT
        FROM bubbles INNER JOIN runs USING (run_id) WHERE name = $1 GROUP BY ALL
        """,
        [run, "host or sync" in TOTALS[run]],
    ).fetchall()
    assert {cause: (gaps, lost) for cause, gaps, lost in rows} == TOTALS[run]


def test_bubbles_add_up_to_the_idle_time_of_every_device(
    store_of_samples: duckdb.DuckDBPyConnection,
) -> None:
    devices = store_of_samples.sql(
        """
        SELECT
            span_ns, busy_ns, bubble_ns, bubbles,
            coalesce(sum(gap.dur_ns), 0)::BIGINT AS gaps_ns, count(gap.dur_ns) AS gaps,
            coalesce(min(gap.dur_ns), 1) AS shortest_ns
        FROM device_time LEFT JOIN bubbles AS gap USING (run_id, source_id, device) GROUP BY ALL
        """
    ).fetchall()
    assert len(devices) >= 17
    for span, busy, bubble, bubbles, gaps_ns, gaps, shortest in devices:
        assert busy + bubble == span
        assert (gaps_ns, gaps) == (bubble, bubbles)
        assert shortest > 0
    [(strays,)] = store_of_samples.sql(
        "SELECT count(*) FROM bubbles ANTI JOIN device_time USING (run_id, source_id, device)"
    ).fetchall()
    assert strays == 0


# Small traces. Times in µs; kernel A ends at 100, where the gap begins, and B starts at 200.

Event = dict[str, Any]


def span(name: str, start: float, end: float, cat: str = "cpu_op", tid: int = 1) -> Event:
    duration = round(end - start, 3)
    return {
        "ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": start, "dur": duration,
    }  # fmt: skip


def call(name: str, start: float, end: float, tid: int = 1, correlation: int = 0) -> Event:
    event = span(name, start, end, "cuda_runtime", tid)
    return {**event, "args": {"correlation": correlation}} if correlation else event


def on_device(
    name: str, start: float, end: float, correlation: int, stream: int = 7, device: int = 0
) -> Event:
    event = span(name, start, end, "gpu_memcpy" if "Memcpy" in name else "kernel", stream)
    args = {"correlation": correlation, "stream": stream, "device": device}
    return {**event, "pid": device, "args": args}


A, B = on_device("A", 50, 100, 1), on_device("B", 200, 300, 2)
LAUNCH_A = call("cudaLaunchKernel", 40, 45, correlation=1)
LATE = call("cudaLaunchKernel", 190, 195, correlation=2)
IN_TIME = call("cudaLaunchKernel", 60, 65, correlation=2)
COPIED = on_device("Memcpy DtoH (Device -> Pageable)", 50, 100, 1)
COPIED_PINNED = on_device("Memcpy DtoH (Device -> Pinned)", 50, 100, 1)
COPYING = call("cudaMemcpyAsync", 40, 110, correlation=1)
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"

# What happens: the events, and the cause, host_op and host_frame expected of the gap.
CASES: dict[str, tuple[list[Event], tuple[str, str | None, str | None]]] = {
    "launched after the gap began": ([A, B, LATE, span("op", 90, 198)], ("host", "op", None)),
    "launched as the gap began": (
        [A, B, call("cudaLaunchKernel", 100, 105, correlation=2), span("op", 90, 198)],
        ("launch", None, None),
    ),
    "launched a nanosecond after": (
        [A, B, call("cudaLaunchKernel", 100.001, 105, correlation=2)],
        ("host", None, None),
    ),
    "launched in time": ([A, B, IN_TIME, span("op", 50, 250)], ("launch", None, None)),
    "launched in time, by a call that lasts into the gap": (
        [A, B, call("cudaLaunchKernel", 99, 199, correlation=2)],
        ("launch", None, None),
    ),
    "launched by the driver": (
        [A, B, {**LATE, "name": "cuLaunchKernel", "cat": "cuda_driver"}],
        ("host", None, None),
    ),
    "no launch": ([A, B, LAUNCH_A, span("op", 90, 198)], ("unknown", None, None)),
    "after another stream": (
        [A, on_device("B", 200, 300, 2, stream=8), IN_TIME],
        ("dependency", None, None),
    ),
    "after another stream, but launched late": (
        [A, on_device("B", 200, 300, 2, stream=8), LATE],
        ("host", None, None),
    ),
    "what ended last counts, not what started last": (
        [on_device("long", 10, 100, 3, stream=8), on_device("short", 50, 60, 1), B, IN_TIME],
        ("dependency", None, None),
    ),
    "after a communication": (
        [on_device("ncclDevKernel_AllReduce", 50, 100, 1), B, IN_TIME],
        ("dependency", None, None),
    ),
    "after a copy on the same stream": ([COPIED_PINNED, B, IN_TIME], ("launch", None, None)),
    # Waiting for the device.
    "a wait open as the gap begins": (
        [A, B, LATE, call("cudaStreamSynchronize", 70, 101)],
        ("sync", None, None),
    ),
    "a wait that ended before": (
        [A, B, LATE, call("cudaStreamSynchronize", 70, 99)],
        ("host", None, None),
    ),
    "a wait that begins in the gap": (
        [A, B, LATE, call("cudaStreamSynchronize", 101, 189)],
        ("host", None, None),
    ),
    "a wait of another thread": (
        [A, B, LATE, call("cudaDeviceSynchronize", 70, 101, tid=2)],
        ("host", None, None),
    ),
    "launched in time, a wait open": (
        [A, B, IN_TIME, call("cudaDeviceSynchronize", 70, 301)],
        ("launch", None, None),
    ),
    "aten::item": (
        [A, B, LATE, span("aten::item", 70, 110), span("aten::_local_scalar_dense", 71, 109)],
        ("sync", "aten::item", None),
    ),
    "a copy that blocks": (
        [COPIED, B, LATE, {**COPYING, "name": "cudaMemcpy"}],
        ("sync", None, None),
    ),
    "an asynchronous copy of pinned memory": ([COPIED_PINNED, B, LATE, COPYING], ("host", None, None)),
    # Loading data and compiling: half of the gap is enough, and they come before waiting.
    "40 % data loader": ([A, B, LATE, span(LOADER, 90, 140)], ("host", LOADER, None)),
    "50 % data loader": ([A, B, LATE, span(LOADER, 90, 150)], ("dataloader", LOADER, None)),
    "60 % data loader, 25 % an op in it": (
        [A, B, LATE, span(LOADER, 110, 170), span("aten::stack", 140, 165)],
        ("dataloader", LOADER, None),
    ),
    "data loader after a wait": (
        [A, B, LATE, call("cudaDeviceSynchronize", 70, 105), span(LOADER, 110, 180)],
        ("dataloader", LOADER, None),
    ),
    "data loader of another thread": ([A, B, LATE, span(LOADER, 90, 198, tid=2)], ("host", None, None)),
    "compilation": (
        [A, B, LATE, span("entire_frame_compile (dynamo_timed)", 110, 180, "user_annotation")],
        ("compile", "entire_frame_compile (dynamo_timed)", None),
    ),
    # What the host did, on the launching thread.
    "no op": ([A, B, LATE], ("host", None, None)),
    "no op half as long as the gap": (
        [A, B, LATE, span("aten::mul", 101, 110), span("aten::mm", 120, 150)],
        ("host", "aten::mm", None),
    ),
    "the innermost that fills half": (
        [A, B, LATE, span("outer", 0, 400), span("inner", 110, 170), span("leaf", 120, 150)],
        ("host", "inner", None),
    ),
    "a step and a compiled region name no work": (
        [A, B, LATE, span("ProfilerStep#3", 0, 400, "user_annotation"), span("mm", 185, 198)],
        ("host", "mm", None),
    ),
    "Python frames": (
        [A, B, LATE]
        + [span(n, s, e, "python_function") for n, s, e in [("f", 0, 400), ("g", 90, 180)]],
        ("host", None, "g"),
    ),
    "another thread's op does not count": (
        [A, B, LATE, span("mine", 150, 198), span("theirs", 90, 199, tid=2)],
        ("host", "mine", None),
    ),
}  # fmt: skip

DISPUTED: dict[str, tuple[list[Event], tuple[str, str | None, str | None], str]] = {
    "a blocking copy of pageable memory": (
        [COPIED, B, LATE, COPYING],
        ("sync", None, None),
        "cudaMemcpyAsync blocks on pageable memory",
    ),
    "a wait that ends as the gap begins": (
        [A, B, LATE, call("cudaStreamSynchronize", 70, 100)],
        ("sync", None, None),
        "the host had been waiting just before; whole µs make the times meet",
    ),
    "aten::item begins with the gap": (
        [A, B, LATE, span("aten::item", 100, 199)],
        ("host", "aten::item", None),
        "nothing was waited for yet: item itself launches B",
    ),
    "two batches of 30 % data loader each": (
        [A, B, LATE, span(LOADER, 101, 131), span(LOADER, 140, 170)],
        ("dataloader", LOADER, None),
        "60 % of the gap is spent loading data, but by no single event",
    ),
    "a compiled region fills the gap, a small op a part": (
        [A, B, LATE, span("Torch-Compiled Region: 0/0", 90, 400), span("mm", 190, 198)],
        ("host", "Torch-Compiled Region: 0/0", None),
        "the small op did not fill most of the gap",
    ),
}

SMALL = [pytest.param(*case, id=title) for title, case in CASES.items()] + [
    pytest.param(events, row, id=title, marks=pytest.mark.xfail(strict=True, reason=reason))
    for title, (events, row, reason) in DISPUTED.items()
]


@pytest.mark.parametrize(("events", "expected"), SMALL)
def test_cause_of_a_small_gap(
    events: list[Event], expected: tuple[str, str | None, str | None], traces: Any
) -> None:
    rows = traces.add(events).sql("SELECT start_ns, dur_ns, cause, host_op, host_frame FROM bubbles")
    assert rows.fetchall() == [(100_000, 100_000, *expected)]


def test_a_thread_that_feeds_two_devices_keeps_both_waiting(traces: Any) -> None:
    events = [A, B, on_device("C", 50, 120, 3, device=1), on_device("D", 400, 500, 4, device=1)]
    events += [LATE, call("cudaLaunchKernel", 390, 395, correlation=4)]
    events += [span("for B", 101, 189), span("for D", 200, 380)]
    rows = traces.add(events).sql(
        "SELECT device, before_kernel, after_kernel, dur_ns, cause, host_op FROM bubbles ORDER BY 1"
    )
    assert rows.fetchall() == [
        (0, "A", "B", 100_000, "host", "for B"),
        (1, "C", "D", 280_000, "host", "for D"),
    ]


def test_gaps_within_a_graph_have_the_launch_of_the_graph(traces: Any) -> None:
    kernels = [A, *[on_device(n, t, t + 20, 2) for n, t in [("g1", 200), ("g2", 230), ("g3", 250)]]]
    launch = call("cudaGraphLaunch", 150, 160, correlation=2)
    rows = traces.add([*kernels, launch, span("replay", 90, 199)]).sql(
        "SELECT before_kernel, after_kernel, dur_ns, cause, host_op FROM bubbles ORDER BY start_ns"
    )
    # g2 ends as g3 starts: no gap.
    assert rows.fetchall() == [
        ("A", "g1", 100_000, "host", "replay"),
        ("g1", "g2", 10_000, "launch", None),
    ]
