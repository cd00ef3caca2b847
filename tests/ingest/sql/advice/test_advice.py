"""Advice: on a small trace with a known answer, and on real ones against plain Python."""

import json
from bisect import bisect_right
from collections.abc import Callable, Iterable
from gzip import decompress
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest

import ingest
from tests.builders import events
from tests.builders.compile_logs import artifact, event, span, trace
from tests.builders.events import Event, host
from tests.conftest import Traces
from tests.samples import Samples

REASON = "0/0: tensor 'x' size mismatch at index 0. expected 1, actual 2"
CONTROL, WORKERS0, QWEN = "nccl_training_control", "v100_resnet50_workers0", "h100_qwen1.5-0.5b"
RECOMPILE, EAGER = "flux_compile_recompile", "flux_eager_min"


def on_host(category: str, name: str, since: int, until: int, **args: Any) -> Event:
    return host(name, category, since, until - since, args)


def launched(
    number: int, launch: tuple[int, int], category: str, name: str, since: int, dur: int
) -> list[Event]:
    """A launching call and its device activity."""
    return [
        on_host("cuda_runtime", "cudaLaunchKernel", *launch, correlation=number),
        events.kernel(name, since, dur, category, correlation=number),
    ]


STEP = [  # µs; a step of 1 ms, in which the device is busy from 20 to 865 but for two gaps
    on_host("user_annotation", "ProfilerStep#1", 0, 1000),
    on_host("python_function", "train.py(7): step", 0, 1000),
    on_host("cpu_op", "aten::mm", 1, 20, **{"Input type": ["float", "float"]}),
    *launched(1, (10, 15), "kernel", "ampere_sgemm_128x64_nn", 20, 300),
    on_host("cpu_op", "aten::item", 30, 332),
    on_host("cpu_op", "aten::_local_scalar_dense", 31, 332),
    *launched(2, (40, 45), "gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 320, 10),
    on_host("cuda_runtime", "cudaStreamSynchronize", 50, 332),
    # the device idles from 330 to 450
    on_host("cpu_op", "aten::add", 430, 455),
    *launched(3, (440, 450), "kernel", "add_kernel", 450, 4),
    # and from 454 to 600, the last 40 µs while the host is in the operator
    on_host("cpu_op", "aten::relu", 560, 592),
    *launched(4, (580, 590), "kernel", "relu_kernel", 600, 5),
    *launched(5, (600, 603), "kernel", "ncclDevKernel_AllReduce", 605, 200),
    *launched(6, (604, 607), "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 805, 60),
]
A100: dict[str, Any] = {"deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB"}]}


def test_each_kind_has_its_bound_and_trifles_are_left_out(traces: Traces) -> None:
    store = traces.add(STEP, **A100)
    found = store.sql(
        "SELECT kind, bound_ns, percent, cause, kernel, op FROM advice ORDER BY bound_ns DESC"
    ).fetchall()
    assert found == [
        ("float_matmul", 300_000, 30, None, None, "aten::mm"),
        ("exposed_communication", 200_000, 20, None, "ncclDevKernel_AllReduce", None),
        ("host_bound", 146_000, 14.6, "host", None, None),
        ("blocking", 120_000, 12, "sync", None, None),
        ("exposed_copy", 70_000, 7, None, "Memcpy HtoD (Pinned -> Device)", None),
    ]
    trifles = store.sql(
        "SELECT kind, bound_ns, what FROM advice_checks ANTI JOIN advice USING (kind) ORDER BY kind"
    ).fetchall()
    assert trifles == [
        ("dataloader", 0, None),
        ("recompiled", 0, None),
        (
            "small_kernels",
            49_000,  # 4 and 5 µs of kernels, and 40 µs before the latter
            "2 of 4 kernels took less time than the call that launched them: 0.01 ms of a step, "
            "and 0.04 ms idle right before them.",
        ),
    ]


def test_a_wait_is_named_by_the_operator_and_the_line_that_waited(traces: Traces) -> None:
    store = traces.add(STEP, **A100)
    assert store.sql("SELECT wait, wait_frame, copy, bubbles, bubble_ns FROM waits").fetchall() == [
        ("aten::item", "train.py(7): step", "Memcpy DtoH (Device -> Pageable)", 1, 120_000)
    ]
    ((what,),) = store.sql("SELECT what FROM advice WHERE kind = 'blocking'").fetchall()
    assert what == (
        "The device idled 0.12 ms of a step after the host had waited for it, 1 times; 0.12 ms of "
        "it after aten::item at train.py(7): step."
    )


def reasons(store: duckdb.DuckDBPyConnection) -> dict[str, str]:
    return dict(
        store.sql("SELECT kind, not_told FROM advice_checks WHERE not_told IS NOT NULL").fetchall()
    )


def test_what_cannot_be_told_says_why(traces: Traces) -> None:
    bare = {**STEP[4], "args": {"device": 0, "stream": 7}}
    no_calls = "the trace does not tell which calls launched the kernels"
    assert reasons(traces.add([bare], "bare")) == {
        **dict.fromkeys(["host_bound", "small_kernels", "blocking", "dataloader"], no_calls),
        "float_matmul": "the trace does not name the device",
    }
    by_device = {
        "Tesla P100-PCIE-16GB": "whether Tesla P100-PCIE-16GB has tensor cores is not known here",
        "NVIDIA H200": "the types of inputs were not recorded (record_shapes=True)",
    }
    for name, why in by_device.items():
        events = [e for e in STEP if e["name"] != "aten::mm"]
        traces.store.remove(*traces.store.run_ids())
        found = reasons(traces.add(events, deviceProperties=[{"id": 0, "name": name}]))
        assert found == {"float_matmul": why}


def test_a_host_alone_has_advice_of_its_own(traces: Traces) -> None:
    events = [on_host("cpu_op", "aten::mm", since, since + 100) for since in (0, 400)]
    store = traces.add(events)
    assert store.sql("SELECT kind, bound_ns, what FROM advice").fetchall() == [
        (
            "host_bound",
            300_000,
            "In 0.30 ms of the run no operator ran: the host was in Python, or waited.",
        )
    ]
    device_alone = {"small_kernels", "blocking", "exposed_communication", "exposed_copy"}
    assert reasons(store) == dict.fromkeys(device_alone | {"float_matmul"}, "the run has no device")


def test_a_recompilation_while_measured_says_why_word_for_word(
    store: ingest.Store, tmp_path: Path
) -> None:
    log = "".join(event("0/1", kind, "dynamo", 1e15 + at) for kind, at in (("B", 5), ("E", 105)))
    log += artifact("0/1", "recompile_reasons", REASON)
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.compile.log").write_text(log)
    (run / "trace.json").write_text(trace(span("aten::mm", 1e15, 500)))
    store.add(run)
    store = ingest.connect(store.path)
    found = store.sql("SELECT bound_ns, percent, what FROM advice WHERE kind = 'recompiled'")
    assert found.fetchall() == [
        (
            100_000,
            20,
            "1 compilation in the measured steps took 0.10 ms of the run; 1 of them had been "
            f"compiled before: {REASON}",
        )
    ]


# Real traces.


@pytest.fixture(scope="module")
def real(sampled: Samples) -> duckdb.DuckDBPyConnection:
    """A store of real traces."""
    return ingest.connect(sampled.store(CONTROL, WORKERS0, QWEN, RECOMPILE, EAGER))


def bounds(real: duckdb.DuckDBPyConnection, name: str) -> dict[str, int]:
    return dict(
        real.execute(
            "SELECT kind, bound_ns FROM advice INNER JOIN runs USING (run_id) WHERE name = ?",
            [name],
        ).fetchall()
    )


class Plain:
    """What counts of a trace in plain Python: steps of the profiler's, and what they launched."""

    def __init__(self, path: Path) -> None:
        events = json.loads(decompress(path.read_bytes()))["traceEvents"]
        self.events = [e for e in events if e.get("ph") == "X" and "dur" in e]
        calls = self.of("cuda_runtime", "runtime")
        self.call_of = {e["args"]["correlation"]: e for e in calls if "correlation" in e["args"]}
        steps = [ends(e) for e in self.events if e["name"].startswith("ProfilerStep#")]
        self.steps = len(steps)
        self.everything = self.of("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset")
        asked = [
            ends(activity)
            for activity in self.everything
            if (call := self.call(activity))
            and any(since <= ns(call["ts"]) < until for since, until in steps)
        ]
        self.window = (min(since for since, _ in asked), max(until for _, until in asked))
        self.activities = [
            activity
            for activity in self.everything
            if self.inside(activity) >= (1 if activity["dur"] else 0)  # some take no microsecond
        ]
        self.ops = sorted(self.of("cpu_op", "operator"), key=lambda e: (e["ts"], -e["dur"]))
        self.threads: dict[Any, list[Event]] = {}
        for op in self.ops:
            ops = self.threads.setdefault((op["pid"], op["tid"]), [])
            parent = ops[-1] if ops else None
            while parent and ends(parent)[1] < ends(op)[1]:
                parent = parent["parent"]
            op["parent"] = parent
            ops.append(op)
        self.starts = {key: [ns(op["ts"]) for op in ops] for key, ops in self.threads.items()}

    def of(self, *categories: str) -> list[Event]:
        """The events of these categories, in whatever case old traces write them."""
        return [e for e in self.events if str(e.get("cat")).lower() in categories]

    def call(self, activity: Event) -> Event | None:
        return self.call_of.get(activity["args"].get("correlation"))

    def around(self, call: Event) -> list[Event]:
        """The operators around a call, innermost first, without wrappers."""
        key = (call["pid"], call["tid"])
        place = bisect_right(self.starts.get(key, []), ns(call["ts"])) - 1
        op = self.threads[key][place] if place >= 0 else None
        found = []
        while op:
            wraps = op["name"].startswith(("autograd::engine::evaluate_function", "ProfilerStep"))
            if ends(op)[1] > ns(call["ts"]) and not wraps:
                found.append(op)
            op = op["parent"]
        return found

    def inside(self, activity: Event) -> int:
        since, until = ends(activity)
        return min(until, self.window[1]) - max(since, self.window[0])

    def covered(self, activities: Iterable[Event]) -> int:
        """The time in which any of them runs, in the window."""
        total, reached = 0, self.window[0]
        for since, until in sorted(map(ends, activities)):
            until = min(until, self.window[1])
            total += max(0, until - max(since, reached))
            reached = max(reached, until)
        return total


def ns(us: float) -> int:
    return round(us * 1000)


def ends(e: Event) -> tuple[int, int]:
    return ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])


def is_kernel(activity: Event) -> bool:
    return str(activity["cat"]).lower() == "kernel"


def is_communication(activity: Event) -> bool:
    return is_kernel(activity) and "nccl" in activity["name"].lower()


@pytest.fixture(scope="module")
def plain(sampled: Samples) -> Callable[[str], Plain]:
    """A trace, read once."""
    read: dict[str, Plain] = {}

    def get(name: str) -> Plain:
        if name not in read:
            [path] = sampled.files(name)
            read[name] = Plain(path)
        return read[name]

    return get


@pytest.mark.parametrize("name", [CONTROL, WORKERS0])
def test_exposed_time_is_what_plain_python_counts(
    name: str, real: duckdb.DuckDBPyConnection, plain: Callable[[str], Plain]
) -> None:
    run = plain(name)
    found = bounds(real, name)
    kernels = [a for a in run.activities if is_kernel(a)]
    compute = run.covered(a for a in kernels if not is_communication(a))
    working, busy = run.covered(kernels), run.covered(run.activities)
    assert found["exposed_copy"] == (busy - working) // run.steps
    assert found.get("exposed_communication", 0) == (working - compute) // run.steps


@pytest.mark.parametrize("name", [CONTROL, WORKERS0])
def test_small_kernels_are_what_plain_python_counts(
    name: str, real: duckdb.DuckDBPyConnection, plain: Callable[[str], Plain]
) -> None:
    run = plain(name)
    idle_before = {}
    reached = None
    for activity in sorted(run.activities, key=lambda a: (ends(a)[0], ends(a)[1])):
        since, until = ends(activity)
        if reached is not None and since > reached:
            idle_before[id(activity)] = reached
        reached = max(reached or until, until)
    (first,) = real.execute(
        "SELECT min(start_ns) FROM kernels JOIN runs USING (run_id) WHERE runs.name = ?", [name]
    ).fetchall()[0]
    first -= min(ends(activity)[0] for activity in run.everything)
    others = {
        end - first
        for (end,) in real.execute(
            "SELECT start_ns + dur_ns FROM bubbles INNER JOIN runs USING (run_id) "
            "WHERE name = ? AND cause NOT IN ('host', 'launch')",
            [name],
        ).fetchall()
    }
    total = 0
    for kernel in filter(is_kernel, run.activities):
        call = run.call(kernel)
        if call is None or ns(kernel["dur"]) >= ns(call["dur"]):
            continue
        total += run.inside(kernel)
        idle_from = idle_before.get(id(kernel))
        if idle_from is None:
            continue
        since = ends(kernel)[0]
        if since in others:
            continue
        ops = run.around(call)
        asked = ends(ops[-1])[0] if ops else ns(call["ts"])
        total += since - max(idle_from, asked)
    assert bounds(real, name)["small_kernels"] == total // run.steps


@pytest.mark.parametrize("name", [CONTROL, WORKERS0])
def test_float_matmuls_are_what_plain_python_counts(
    name: str, real: duckdb.DuckDBPyConnection, plain: Callable[[str], Plain]
) -> None:
    """Whose names are known in these two traces."""
    run = plain(name)
    launched_by: dict[int, list[Event]] = {}
    op_of: dict[int, Event] = {}
    for kernel in filter(is_kernel, run.activities):
        call = run.call(kernel)
        ops = run.around(call) if call else []
        if ops and not is_communication(kernel):
            launched_by.setdefault(id(ops[0]), []).append(kernel)
            op_of[id(ops[0])] = ops[0]
    total = 0
    for key, kernels in launched_by.items():
        op = op_of[key]
        multiplies = op["name"] in ("aten::mm", "aten::bmm", "aten::addmm")
        types = op["args"].get("Input type", [])
        on_tensor_cores = any("tensorop" in kernel["name"] for kernel in kernels)
        is_float = "float" in types and "c10::Half" not in types
        if (multiplies or "convolution" in op["name"]) and is_float and not on_tensor_cores:
            total += sum(map(run.inside, kernels))
    assert bounds(real, name)["float_matmul"] == total // run.steps


def test_the_data_loader_leads_what_the_host_can_do_where_it_has_no_workers(
    real: duckdb.DuckDBPyConnection,
) -> None:
    found = bounds(real, WORKERS0)
    # 5 gaps of 285 ms and 1,471 of 95 ms in six steps, counted in plain Python in test_bubbles
    assert abs(found["dataloader"] - 285_214_000 / 6) <= 1  # rounded so that the parts add up
    assert abs(found["host_bound"] - 94_821_000 / 6) <= 1
    del found["float_matmul"]  # on a V100, half precision could save more
    assert max(found, key=lambda kind: found[kind]) == "dataloader"


def test_compilation_in_a_real_run_is_its_phases(
    real: duckdb.DuckDBPyConnection, sampled: Samples
) -> None:
    [path] = sampled.files(RECOMPILE)
    trace = json.loads(decompress(path.read_bytes()))
    frames = sorted(
        ends(e)
        for e in trace["traceEvents"]
        if e["name"] == "_compile.compile_inner (dynamo_timed)"
    )
    assert len(frames) == 2
    assert all(a[1] <= b[0] for a, b in pairwise(frames))
    taken = sum(until - since for since, until in frames)
    found = bounds(real, RECOMPILE)
    assert 1 <= found["recompiled"] / taken < 1.01  # and what lies between its phases
    assert real.sql(
        "SELECT what LIKE '2 compilations%1 of them%no reason was recorded%' FROM advice "
        "WHERE kind = 'recompiled'"
    ).fetchall() == [(True,)]


def test_waits_of_a_real_run_are_those_of_its_source(real: duckdb.DuckDBPyConnection) -> None:
    found = real.sql(
        "SELECT wait, wait_frame, bubble_ns FROM waits INNER JOIN runs USING (run_id) "
        "WHERE name LIKE 'h100_qwen%' ORDER BY bubble_ns DESC"
    ).fetchall()
    assert found == [
        ("cudaDeviceSynchronize", "torch/cuda/__init__.py(975): synchronize", 290_943),
        (
            "aten::is_nonzero",
            "transformers/modeling_attn_mask_utils.py(243): _ignore_causal_mask_sdpa",
            148_127,
        ),
    ]


def test_causes_add_up_to_the_figures_of_the_run(real: duckdb.DuckDBPyConnection) -> None:
    assert (
        real.sql(
            """
            SELECT figures.run_id FROM run_totals AS figures
            LEFT JOIN (
                SELECT run_id, rank, device, sum(bubble_ns) AS bubble_ns, sum(bubbles) AS bubbles
                FROM measured_causes GROUP BY run_id, rank, device
            ) AS causes USING (run_id, rank, device)
            WHERE figures.measure = 'device'
            AND (figures.bubble_ns <> causes.bubble_ns OR figures.bubbles <> causes.bubbles)
            """
        ).fetchall()
        == []
    )


def test_short_kernels_are_as_many_as_the_figures_say(real: duckdb.DuckDBPyConnection) -> None:
    assert (
        real.sql(
            """
            SELECT run_id, calls, figures.short_kernels FROM run_totals AS figures
            LEFT JOIN (
                SELECT run_id, rank, device, sum(calls) AS calls
                FROM short_kernels GROUP BY run_id, rank, device
            ) USING (run_id, rank, device)
            WHERE measure = 'device' AND coalesce(calls, 0) <> figures.short_kernels
            """
        ).fetchall()
        == []
    )
