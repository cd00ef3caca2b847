"""Idle gaps and their causes: gaps of real traces checked by hand, and a small trace per edge case.

The gaps in `gaps_checked_by_hand.json` were derived from the raw events without the product.
`seen` describes the events.
"""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.builders.events import Event, kernel, op
from tests.builders.relations import built, ranks

BY_HAND = json.loads(
    Path(__file__).with_name("gaps_checked_by_hand.json").read_text(encoding="utf-8")
)


def test_gaps_checked_by_hand(store_of_samples: duckdb.DuckDBPyConnection) -> None:
    gaps = {
        (name, start): row
        for name, start, *row in store_of_samples.execute(
            "SELECT name, start_ns, "
            "dur_ns, before_kernel, after_kernel, cause, host_op, host_frame FROM bubbles "
            "INNER JOIN runs USING (run_id) "
            "WHERE (name, start_ns) IN (SELECT unnest($1), unnest($2))",
            [[gap["run"] for gap in BY_HAND], [gap["start_ns"] for gap in BY_HAND]],
        ).fetchall()
    }
    keys = ("dur_ns", "before", "after", "cause", "host_op", "host_frame")
    for gap in BY_HAND:
        length, before, after, *rest = gaps[gap["run"], gap["start_ns"]]
        # The file holds only the beginning of long kernel names.
        found = (length, before[: len(gap["before"])], after[: len(gap["after"])], *rest)
        assert found == tuple(gap.get(key) for key in keys), gap["seen"]


def test_gaps_checked_by_hand_cover_every_cause() -> None:
    causes = {"host", "sync", "dataloader", "compile", "dependency", "launch", "unknown"}
    assert {gap["cause"] for gap in BY_HAND} == causes


# Number of gaps and total ns of each cause, counted in plain Python over the complete trace.
TOTALS = {
    "v100_resnet50_workers0": {
        "dataloader": (5, 285_214_000),  # 393 ms of idle time in total
        "host": (1471, 94_821_000),
        "launch": (7433, 10_243_000),
        "sync": (12, 2_641_000),
    },
    "v100_resnet50_workers4": {  # the same work, but the loader's workers keep up
        "host": (1799, 172_185_000),
        "launch": (7345, 12_111_000),
        "sync": (12, 2_841_000),
    },
    "h100_owlv2": {
        "dataloader": (4, 492_726_150),  # 511.5 ms of idle time in total
        "host": (70, 5_186_571),
        "launch": (5015, 6_783_762),
        "sync": (75, 6_832_419),  # mostly copies of pageable memory
    },
}


@pytest.mark.parametrize("run", TOTALS)
def test_time_lost_to_each_cause(run: str, store_of_samples: duckdb.DuckDBPyConnection) -> None:
    rows = store_of_samples.execute(
        """
        SELECT cause, count(*), sum(dur_ns)::BIGINT FROM bubbles
        INNER JOIN runs USING (run_id) WHERE name = $1 AND NOT is_edge GROUP BY cause
        """,
        [run],
    ).fetchall()
    assert {cause: (gaps, lost) for cause, gaps, lost in rows} == TOTALS[run]


def test_bubbles_add_up_to_the_idle_time_of_every_device(
    store_of_samples: duckdb.DuckDBPyConnection,
) -> None:
    devices = store_of_samples.sql(
        """
        SELECT
            span_ns, busy_ns, idle_ns, bubbles,
            coalesce(sum(gap.dur_ns), 0)::BIGINT AS gaps_ns, count(gap.dur_ns) AS gaps,
            coalesce(min(gap.dur_ns), 1) AS shortest_ns
        FROM device_time LEFT JOIN (FROM bubbles WHERE NOT is_edge) AS gap
            USING (run_id, source_id, device)
        GROUP BY ALL
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


# Small traces. Times in µs. The gap is between kernel A, which ends at 100, and B, from 200.


def span(name: str, start: float, end: float, cat: str = "cpu_op", tid: int = 1) -> Event:
    return op(name, start, round(end - start, 3), cat=cat, tid=tid)


def call(name: str, start: float, end: float, tid: int = 1, correlation: int = 0) -> Event:
    event = span(name, start, end, "cuda_runtime", tid)
    return {**event, "args": {"correlation": correlation}} if correlation else event


def on_device(
    name: str, start: float, end: float, correlation: int, stream: int = 7, device: int = 0
) -> Event:
    category = "gpu_memcpy" if "Memcpy" in name else "kernel"
    return kernel(name, start, end - start, category, device, stream, correlation=correlation)


def launch(start: float, end: float, cat: str = "cuda_runtime") -> Event:
    """Return the launch of B."""
    return {**call("cudaLaunchKernel", start, end, correlation=2), "cat": cat}


IN_TIME, LATE = launch(60, 65), launch(190, 195)
A, B = on_device("A", 50, 100, 1), on_device("B", 200, 300, 2)
ELSEWHERE = on_device("B", 200, 300, 2, stream=8)
LAUNCH_A = call("cudaLaunchKernel", 40, 45, correlation=1)
PAGEABLE = on_device("Memcpy DtoH (Device -> Pageable)", 50, 100, 1)
PINNED = on_device("Memcpy DtoH (Device -> Pinned)", 50, 100, 1)
COPYING = call("cudaMemcpyAsync", 40, 110, correlation=1)
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
COMPILE = "entire_frame_compile (dynamo_timed)"

# Title: the events, and the expected cause, host_op and host_frame of the gap.
Row = tuple[str, str | None, str | None]
HOST, SYNC = ("host", None, None), ("sync", None, None)
LAUNCH, DEPENDENCY = ("launch", None, None), ("dependency", None, None)
CASES: dict[str, tuple[list[Event], Row]] = {
    "launched after the gap began": ([A, B, LATE, span("op", 90, 198)], ("host", "op", None)),
    "launched as the gap began": ([A, B, launch(100, 105), span("op", 90, 198)], LAUNCH),
    "launched a nanosecond after": ([A, B, launch(100.001, 105)], HOST),
    "launched in time": ([A, B, IN_TIME, span("op", 50, 250)], LAUNCH),
    "launched in time, by a call that ends in the gap": ([A, B, launch(99, 199)], LAUNCH),
    "launched by the driver": ([A, B, launch(190, 195, "cuda_driver")], HOST),
    "no launch": ([A, B, LAUNCH_A, span("op", 90, 198)], ("unknown", None, None)),
    "after another stream": ([A, ELSEWHERE, IN_TIME], DEPENDENCY),
    "after another stream, but launched late": ([A, ELSEWHERE, LATE], HOST),
    "the activity that ended last counts, not the one that started last": (
        [on_device("long", 10, 100, 3, stream=8), on_device("short", 50, 60, 1), B, IN_TIME],
        DEPENDENCY,
    ),
    "after a communication": ([on_device("ncclDevKernel", 50, 100, 1), B, IN_TIME], DEPENDENCY),
    "after a copy on the same stream": ([PINNED, B, IN_TIME], LAUNCH),
    # Waits for the device.
    "a wait open as the gap begins": ([A, B, LATE, call("cudaStreamSynchronize", 70, 101)], SYNC),
    "a wait that ended before": ([A, B, LATE, call("cudaStreamSynchronize", 70, 99)], HOST),
    "a wait that begins in the gap": ([A, B, LATE, call("cudaStreamSynchronize", 101, 189)], HOST),
    "a wait of another thread": ([A, B, LATE, call("cudaDeviceSynchronize", 70, 101, 2)], HOST),
    "a wait, but launched in time": ([A, B, IN_TIME, call("cuCtxSynchronize", 70, 301)], LAUNCH),
    "a copy that blocks": ([PAGEABLE, B, LATE, {**COPYING, "name": "cudaMemcpy"}], SYNC),
    "a copy that blocks, with a recorded end before the gap": (
        [PAGEABLE, B, LATE, call("hipMemcpyWithStream", 40, 95, correlation=1)],
        SYNC,
    ),
    "a copy of pageable memory, whatever the call's name": ([PAGEABLE, B, LATE, COPYING], SYNC),
    "an asynchronous copy of pinned memory": ([PINNED, B, LATE, COPYING], HOST),
    "aten::item": (
        [A, B, LATE, span("aten::item", 70, 110), span("aten::_local_scalar_dense", 71, 109)],
        ("sync", "aten::item", None),
    ),
    "aten::item begins with the gap": (
        [A, B, LATE, span("aten::item", 100, 199)],
        ("host", "aten::item", None),
    ),
    # Data loading and compilation need half of the gap, and take precedence over waits.
    "40 % data loader": ([A, B, LATE, span(LOADER, 90, 140)], ("host", LOADER, None)),
    "50 % data loader": ([A, B, LATE, span(LOADER, 90, 150)], ("dataloader", LOADER, None)),
    "60 % data loader, 25 % an op in it": (
        [A, B, LATE, span(LOADER, 110, 170), span("aten::stack", 140, 165)],
        ("dataloader", LOADER, None),
    ),
    "two calls of 30 % data loader each: neither fills half": (
        [A, B, LATE, span(LOADER, 101, 131), span(LOADER, 140, 170)],
        ("host", LOADER, None),
    ),
    "data loader after a wait": (
        [A, B, LATE, call("cudaDeviceSynchronize", 70, 105), span(LOADER, 110, 180)],
        ("dataloader", LOADER, None),
    ),
    "data loader of another thread": ([A, B, LATE, span(LOADER, 90, 198, tid=2)], HOST),
    "compilation": ([A, B, LATE, span(COMPILE, 110, 180)], ("compile", COMPILE, None)),
    # What the launching thread did.
    "no op": ([A, B, LATE], HOST),
    "no op half as long as the gap": (
        [A, B, LATE, span("aten::mul", 101, 110), span("aten::mm", 120, 150)],
        ("host", "aten::mm", None),
    ),
    "the innermost that fills half": (
        [A, B, LATE, span("outer", 0, 400), span("inner", 110, 170), span("leaf", 120, 150)],
        ("host", "inner", None),
    ),
    "a wrapper, if nothing in it fills half": (
        [A, B, LATE, span("Torch-Compiled Region: 0/0", 90, 400), span("mm", 190, 198)],
        ("host", "Torch-Compiled Region: 0/0", None),
    ),
    "a step is not an operator": (
        [A, B, LATE, span("ProfilerStep#3", 0, 400, "user_annotation"), span("mm", 185, 198)],
        ("host", "mm", None),
    ),
    "Python frames": (
        [A, B, LATE, *[span(n, s, 180, "python_function") for n, s in [("f", 80), ("g", 90)]]],
        ("host", None, "g"),
    ),
    "another thread's op does not count": (
        [A, B, LATE, span("mine", 150, 198), span("theirs", 90, 199, tid=2)],
        ("host", "mine", None),
    ),
}


def test_cause_of_a_small_gap() -> None:
    """The small traces are the ranks of one run."""
    found = built(ranks(events for events, _ in CASES.values())).by_rank(
        "SELECT rank, start_ns, dur_ns, cause, host_op, host_frame FROM bubbles WHERE NOT is_edge"
    )
    assert dict(zip(CASES, found, strict=True)) == {
        title: [(100_000, 100_000, *cause)] for title, (_, cause) in CASES.items()
    }


def test_a_thread_that_launches_on_two_devices_can_delay_both() -> None:
    events = [A, B, on_device("C", 50, 110, 3, device=1), on_device("D", 120, 500, 4, device=1)]
    events += [LATE, call("cudaLaunchKernel", 115, 117, correlation=4)]
    events += [span("for D", 111, 119), span("for B", 130, 189)]
    rows = built(events).sql(
        "SELECT device, before_kernel, after_kernel, dur_ns, cause, host_op FROM bubbles "
        "WHERE NOT is_edge ORDER BY 1"
    )
    # The shorter gap lies within the longer one.
    assert rows.fetchall() == [
        (0, "A", "B", 100_000, "host", "for B"),
        (1, "C", "D", 10_000, "host", "for D"),
    ]


def test_gaps_inside_a_graph_use_the_launch_of_the_graph(traces: Any) -> None:
    kernels = [A, *[on_device(n, t, t + 20, 2) for n, t in [("g1", 200), ("g2", 230), ("g3", 250)]]]
    graph = call("cudaGraphLaunch", 150, 160, correlation=2)
    rows = traces.add([*kernels, graph, span("replay", 90, 199)]).sql(
        "SELECT before_kernel, after_kernel, dur_ns, cause, host_op FROM bubbles "
        "WHERE NOT is_edge ORDER BY start_ns"
    )
    assert rows.fetchall() == [
        ("A", "g1", 100_000, "host", "replay"),
        ("g1", "g2", 10_000, "launch", None),  # there is none before g3, which starts when g2 ends
    ]


# Title: the events, and the expected gaps before the first activity and after the last one: start
# and end in µs, step, cause, host_op, and whether an activity follows.
Edge = tuple[float, float, int | None, str, str | None, bool]
RANGE = [span("ProfilerStep#1", 20, 400, "user_annotation")]
EDGES: dict[str, tuple[list[Event], list[Edge]]] = {
    "only the device was recorded": ([A, B], []),
    "the host begins and ends the recording": (
        [A, B, LAUNCH_A, LATE, span("load", 10, 39), span("save", 310, 400)],
        [(10, 50, None, "host", "load", True), (300, 400, None, "host", "save", False)],
    ),
    "steps cut the edges": (
        [A, B, LAUNCH_A, LATE, *RANGE, span("start", 0, 19), span(LOADER, 21, 39)],
        [
            (0, 20, None, "host", "start", True),
            (20, 50, 1, "dataloader", LOADER, True),
            (300, 400, 1, "host", None, False),
        ],
    ),
    "the host waits at the end": (
        [A, B, LAUNCH_A, LATE, call("cudaDeviceSynchronize", 299, 310)],
        [(40, 50, None, "launch", None, True), (300, 310, None, "sync", None, False)],
    ),
    "no launches": (
        [A, B, span("op", 40, 310)],
        [
            (40, 50, None, "unknown", None, True),
            (300, 310, None, "unknown", None, False),
        ],
    ),
}


def test_the_start_and_the_end_of_a_recording_have_causes() -> None:
    found = built(ranks(events for events, _ in EDGES.values())).by_rank(
        """
        SELECT
            rank, start_ns / 1e3, (start_ns + dur_ns) / 1e3, step, cause, host_op,
            after_kernel IS NOT NULL
        FROM bubbles WHERE is_edge ORDER BY start_ns
        """
    )
    assert dict(zip(EDGES, found, strict=True)) == {case: gaps for case, (_, gaps) in EDGES.items()}
