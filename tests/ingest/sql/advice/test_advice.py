"""Advice on a small trace with a known answer, and on real traces compared with plain Python."""

import json
from bisect import bisect_right
from collections.abc import Callable
from gzip import decompress
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest

import ingest
from ingest import units
from tests.builders import events
from tests.builders.compile_logs import artifact, event
from tests.builders.events import Event, host
from tests.builders.relations import Input, Relations, Run, built, trace
from tests.helpers.samples import Samples
from tests.ingest.sql.runs import metrics_in_python
from tests.ingest.sql.steps import parts_in_python

REASON = "0/0: tensor 'x' size mismatch at index 0. expected 1, actual 2"
CONTROL, WORKERS0, QWEN = "nccl_training_control", "v100_resnet50_workers0", "h100_qwen1.5-0.5b"
RECOMPILE, EAGER = "flux_compile_recompile", "flux_eager_min"
OWLV2 = "h100_owlv2"  # computes attention with bmm and softmax
CUDNN_STARTS = "alexnet_cuda_sync"  # cuDNN starts in the first convolution and takes 12 s


def on_host(category: str, name: str, since: int, until: int, **args: Any) -> Event:
    return host(name, category, since, until - since, args)


def launched(
    number: int, launch: tuple[int, int], category: str, name: str, since: int, dur: int
) -> list[Event]:
    """Return a call that launches work, and its device activity."""
    return [
        on_host("cuda_runtime", "cudaLaunchKernel", *launch, correlation=number),
        events.kernel(name, since, dur, category, correlation=number),
    ]


def logged(events: list[Event], *records: str) -> Run:
    """Return a run whose events are 1e15 µs after those given, and which has a compile log."""
    moved = [{**event, "ts": event["ts"] + 1e15} for event in events]
    return Run({"trace.json": {"traceEvents": moved}, "run.compile.log": "".join(records)})


STEP = [  # µs; a step of 1 ms, in which the device is busy from 20 to 865 but for two gaps
    on_host("user_annotation", "ProfilerStep#1", 0, 1000),
    on_host("python_function", "train.py(7): step", 0, 1000),
    on_host("cpu_op", "aten::mm", 1, 20, **{"Input type": ["float", "float"]}),
    *launched(1, (10, 15), "kernel", "ampere_sgemm_128x64_nn", 20, 300),
    on_host("cpu_op", "aten::item", 30, 332),
    on_host("cpu_op", "aten::_local_scalar_dense", 31, 332),
    *launched(2, (40, 45), "gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 320, 10),
    on_host("cuda_runtime", "cudaStreamSynchronize", 50, 332),
    # The device is idle from 330 to 450.
    on_host("cpu_op", "aten::add", 430, 455),
    *launched(3, (440, 450), "kernel", "add_kernel", 450, 4),
    # It is idle again from 454 to 600; for the last 40 µs, the host is in the operator.
    on_host("cpu_op", "aten::relu", 560, 592),
    *launched(4, (580, 590), "kernel", "relu_kernel", 600, 5),
    *launched(5, (600, 603), "kernel", "ncclDevKernel_AllReduce", 605, 200),
    *launched(6, (604, 607), "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 805, 60),
]


def of_device(name: str, multiprocessors: int, memory_gb: float) -> dict[str, Any]:
    """Return what a trace says about its device."""
    memory = int(memory_gb * 1e9)
    described = {"id": 0, "name": name, "numSms": multiprocessors, "totalGlobalMem": memory}
    return {"deviceProperties": [described]}


A100 = of_device("NVIDIA A100-SXM4-80GB", 108, 85.1)
P100, H200 = ("Tesla P100-PCIE-16GB", 56, 17.1), ("NVIDIA H200", 132, 150.1)

IN_TIME = [
    *launched(7, (590, 600), "kernel", "first_kernel", 865, 5),
    *launched(8, (600, 610), "kernel", "second_kernel", 880, 5),  # 10 µs after the first
]
SMALL: dict[str, Input] = {
    "one step": trace(STEP, **A100),
    "launched in time": trace([*STEP, *IN_TIME], **A100),
    "a bare kernel": [{**STEP[4], "args": {"device": 0, "stream": 7}}],
    **{
        device[0]: trace(
            [event for event in STEP if event["name"] != "aten::mm"], **of_device(*device)
        )
        for device in (P100, H200)
    },
    "no device": [on_host("cpu_op", "aten::mm", since, since + 100) for since in (0, 400)],
    # A step of 1 ms that begins with 400 µs of compilation, 100 µs before the first kernel.
    "compiled before the first kernel": logged(
        [
            on_host("user_annotation", "ProfilerStep#1", 0, 1000),
            on_host("cpu_op", "entire_frame_compile (dynamo_timed)", 0, 400),
            *launched(1, (90, 95), "kernel", "gemm", 100, 800),
        ],
        *(event("0/0", kind, "dynamo", 1e15 + at) for kind, at in (("B", 0), ("E", 400))),
    ),
    "recompiled": logged(
        [on_host("cpu_op", "aten::mm", 0, 500)],
        *(event("0/1", kind, "dynamo", 1e15 + at) for kind, at in (("B", 5), ("E", 105))),
        artifact("0/1", "recompile_reasons", REASON),
    ),
}


@pytest.fixture(scope="module")
def small() -> Relations:
    """The small runs, whose advice is computed once."""
    relations = built(SMALL, "advice", "advice_checks")
    for view in ("advice", "advice_checks"):
        relations.execute(f"CREATE TEMP TABLE {view} AS FROM memory.main.{view}")
    return relations


def test_each_kind_has_its_bound_and_minor_findings_are_left_out(
    small: Relations,
) -> None:
    found = small.sql(
        "SELECT kind, bound_ns, percent, cause, kernel, op FROM advice "
        "WHERE run_id = 'one step' ORDER BY bound_ns DESC"
    ).fetchall()
    assert found == [
        # Idle time: 20 µs before the first kernel, 146 µs between two, and 135 µs after the last
        # one. Without the host's work, the wait would end 103 µs earlier, too.
        ("host_bound", 404_000, 40.4, "host", None, None),
        # 0.30 ms, or a 16th of it at the peak rate of half precision
        ("float_matmul", 281_250, 28.125, None, None, "aten::mm"),
        ("exposed_communication", 200_000, 20, None, "ncclDevKernel_AllReduce", None),
        ("blocking", 120_000, 12, "sync", None, None),
        ("exposed_copy", 70_000, 7, None, "Memcpy HtoD (Pinned -> Device)", None),
    ]
    minor = small.sql(
        "SELECT kind, bound_ns, finding FROM advice_checks ANTI JOIN advice USING (run_id, kind) "
        "WHERE run_id = 'one step' ORDER BY kind"
    ).fetchall()
    assert minor == [
        ("below_limits", 0, None),
        ("dataloader", 0, None),
        ("recompiled", 0, None),
        (
            "small_kernels",
            9_000,  # 4 and 5 µs of kernels; of 146 µs before the latter, host_bound counts 40 µs
            "2 of 4 kernels took less time than the call that launched them. They took 9.00 µs of "
            "the median step, and the device was idle for 0 µs right before them. Another 40.0 µs "
            "of idle time before them counts as late launches of the host.",
        ),
        ("straggler", 0, None),
        ("unfused_attention", 0, None),
    ]


DOUBLE_COUNTED = """
    SELECT found.run_id, found.rank, found.device
    FROM advice_checks AS found
    INNER JOIN run_metrics AS metrics
        ON found.run_id = metrics.run_id AND found.rank = metrics.rank
        AND found.device IS NOT DISTINCT FROM metrics.device
    GROUP BY ALL
    HAVING sum(found.idle_ns) > any_value(metrics.idle_ns)
        OR bool_or(found.idle_ns > found.bound_ns)
"""


def test_idle_time_counts_in_one_kind_of_advice_only(small: Relations) -> None:
    ours = "run_id = 'launched in time'"
    idle = small.sql(
        f"SELECT kind, idle_ns, bound_ns FROM advice_checks WHERE idle_ns > 0 AND {ours}"
    )
    assert {kind: (idle, bound) for kind, idle, bound in idle.fetchall()} == {
        "host_bound": (281_000, 384_000),
        "blocking": (120_000, 120_000),
        "small_kernels": (10_000, 29_000),
    }
    assert (
        small.sql(f"SELECT sum(idle_ns) FROM advice_checks WHERE {ours}").fetchall()
        == small.sql(f"SELECT idle_ns FROM run_metrics WHERE {ours}").fetchall()
    )
    assert small.sql(DOUBLE_COUNTED).fetchall() == []


def test_a_wait_is_named_by_the_operator_and_the_line_that_waited(
    small: Relations,
) -> None:
    assert small.sql(
        "SELECT wait, wait_frame, copy, bubbles, idle_ns FROM waits WHERE run_id = 'one step'"
    ).fetchall() == [
        ("aten::item", "train.py(7): step", "Memcpy DtoH (Device -> Pageable)", 1, 120_000)
    ]
    ((finding,),) = small.sql(
        "SELECT finding FROM advice WHERE kind = 'blocking' AND run_id = 'one step'"
    ).fetchall()
    assert finding == (
        "The device was idle for 120 µs of the median step after the host had waited for it; "
        "120 µs of that after aten::item at train.py(7): step."
    )


def reasons(small: Relations, run: str) -> dict[str, str]:
    return dict(
        small.execute(
            "SELECT kind, unknown_reason FROM advice_checks "
            "WHERE unknown_reason IS NOT NULL AND run_id = $1",
            [run],
        ).fetchall()
    )


UNKNOWN_LIMITS = (
    "the limits of the device are unknown (use `ingest edit RUN "
    "--tag peak_bfloat16=989 --tag peak_bandwidth=3.35`)"
)


def test_an_unknown_bound_has_a_reason(small: Relations) -> None:
    no_calls = "the trace does not show which calls launched the kernels"
    assert reasons(small, "a bare kernel") == {
        **dict.fromkeys(
            ["host_bound", "small_kernels", "blocking", "dataloader", "unfused_attention"], no_calls
        ),
        "float_matmul": "the trace does not name the device",
        "below_limits": UNKNOWN_LIMITS,
    }
    assert reasons(small, P100[0]) == {
        "float_matmul": f"the peaks of {P100[0]} in float32 and half precision are unknown",
        "below_limits": UNKNOWN_LIMITS,
    }
    no_types = "the types of inputs were not recorded (use record_shapes=True)"
    unknown = dict.fromkeys(["float_matmul", "below_limits"], no_types)
    assert reasons(small, H200[0]) == unknown


# Multiprocessors, memory in 10⁹ bytes and peak rates in TFLOPS, from the vendors' data sheets: half
# precision on tensor cores without sparsity, and float32 outside of tensor cores.
DEVICES = {
    "Tesla V100-SXM2-16GB": (80, 16.9, 125, 15.7),
    "Tesla T4": (40, 15.8, 65, 8.1),
    "NVIDIA A100-SXM4-80GB": (108, 85.1, 312, 19.5),
    "NVIDIA A10": (72, 23.7, 125, 31.2),
    "NVIDIA GeForce RTX 4090": (128, 25.4, 165, 82.6),
    "NVIDIA L4": (58, 23.7, 121, 30.3),
    "NVIDIA L40S": (142, 47.8, 362, 91.6),
    "NVIDIA H100 80GB HBM3": (132, 85.0, 989, 67),
    "NVIDIA H200": (132, 150.1, 989, 67),
    "NVIDIA B200": (148, 191.5, 2250, 75),
    "AMD Instinct MI210": (104, 68.7, 181, 22.6),
    "AMD Instinct MI300X VF": (304, 206.1, 1307, 163.4),
    "AMD Instinct MI355X": (256, 309.2, 2517, 157.3),
}
UNKNOWN_DEVICES = {
    "Tesla P100-PCIE-16GB": (56, 17.1),
    "NVIDIA H100 80GB HBM3 MIG 1g.10gb": (16, 10.2),
    "NVIDIA Titan Y": (132, 85.0),
}
MATMUL = [event for event in STEP if event["args"].get("correlation", 1) == 1]


def test_float_matmul_is_bounded_by_the_ratio_of_peak_rates() -> None:
    described = {**{name: known[:2] for name, known in DEVICES.items()}, **UNKNOWN_DEVICES}
    relations = built(
        {name: trace(MATMUL, **of_device(name, *known)) for name, known in described.items()},
        "advice_checks",
    )
    left = dict(
        relations.sql(
            "SELECT run_id, 300_000 - bound_ns FROM advice_checks WHERE kind = 'float_matmul'"
        ).fetchall()
    )
    assert left == {
        **{
            name: pytest.approx(300_000 * single / half, rel=0.01)
            for name, (_, _, half, single) in DEVICES.items()
        },
        **dict.fromkeys(UNKNOWN_DEVICES),
    }


def test_the_speedup_of_half_precision_is_named(small: Relations) -> None:
    ((finding,),) = small.sql(
        "SELECT finding FROM advice_checks WHERE kind = 'float_matmul' AND run_id = 'one step'"
    ).fetchall()
    assert f"In half precision they would take at least {units.duration(300_000 / 16)}," in finding
    assert finding.endswith("on NVIDIA A100-SXM4-80GB is up to 16 times as high.")


def test_compilation_counts_before_the_first_kernel_but_not_while_the_device_is_busy(
    small: Relations,
) -> None:
    assert small.sql(
        "SELECT idle_ns, cause, finding FROM advice_checks "
        "WHERE kind = 'recompiled' AND run_id = 'compiled before the first kernel'"
    ).fetchall() == [
        (
            100_000,  # before the kernel: after it, the device is busy until 900
            "compile",
            "Without compilation, the median step would end 195 µs earlier. "
            "1 compilation in the measured steps took 400 µs in total. Recompilations: none.",
        )
    ]


def attention(between: list[str], since: int = 0, top: str | None = None) -> list[Event]:
    """Return a softmax between two matrix multiplications, each of 100 µs, and other operators."""
    found = [on_host("cpu_op", top, since, since + 1000)] if top else []
    names = ["aten::bmm", *between, "aten::_softmax", *between, "aten::bmm"]
    for place, name in enumerate(names):
        at = since + 20 * place
        found += [
            on_host("cpu_op", name, at, at + 15),
            *launched(
                since + place + 1, (at + 5, at + 10), "kernel", name, since + 100 * place + 50, 100
            ),
        ]
    return found


def test_attention_of_separate_operators_is_named_with_the_time_of_the_three() -> None:
    far = ["aten::add"] * 7
    relations = built(
        {
            "twice": [*attention([]), *attention(["aten::add", "aten::copy_"], 5000)],
            "far": attention(far),
            "another multiplication between": attention(["aten::mm"]),
            "only one": attention([])[:6],
        },
        "unfused_attentions",
        "advice_checks",
    )
    assert relations.sql(
        "SELECT run_id, op, calls, attentions, device_ns FROM unfused_attentions ORDER BY op"
    ).fetchall() == [
        ("twice", "aten::_softmax", 2, 2, 200_000),
        ("twice", "aten::bmm", 4, 0, 400_000),
    ]
    assert relations.sql(
        "SELECT bound_ns, finding, op FROM advice_checks "
        "WHERE kind = 'unfused_attention' AND bound_ns > 0"
    ).fetchall() == [
        (
            600_000,
            "Attention ran as separate operators 2 times: a matrix multiplication, a softmax and a "
            "matrix multiplication. These three took 600 µs of the whole recording.",
            "aten::bmm",
        )
    ]


GRAPH = [
    on_host("cuda_runtime", "cudaGraphLaunch", 10, 15, correlation=1),
    *(
        events.kernel("gemm", 20 + 10 * place, 5, correlation=1, **{"graph node id": place})
        for place in range(3)
    ),
    *launched(2, (100, 105), "kernel", "add", 200, 3),
]
USES = {
    "nothing": STEP,
    "graphs": GRAPH,
    "compiled": [*STEP, on_host("cpu_op", "Torch-Compiled Region: 0/0", 0, 22)],
    "hardly compiled": [*STEP, on_host("cpu_op", "Torch-Compiled Region: 0/0", 435, 452)],
    "workers": [
        *STEP,
        on_host("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.x", 0, 5),
    ],
    "training": [*STEP, on_host("user_annotation", "Optimizer.step#SGD.step", 0, 5)],
    "no device": SMALL["no device"],
}


def test_what_a_run_already_uses_is_not_advised() -> None:
    relations = built(USES, "run_features", "run_remedies", "advice_checks")
    assert dict(relations.sql("SELECT run_id, features FROM run_features").fetchall()) == {
        "nothing": ["inference"],
        "graphs": ["graphs"],  # without operators, it may be training
        "compiled": ["compiled", "inference"],
        "hardly compiled": ["inference"],
        "workers": ["workers", "inference"],
        "training": [],
        "no device": ["host", "inference"],
    }

    def advised(text: str, source: str) -> set[str]:
        found = relations.execute(
            f"SELECT run_id FROM (FROM {source}) WHERE contains(remedy, $1)", [text]
        ).fetchall()
        return {run for (run,) in found}

    runs = set(USES)
    assert advised("Compile the model", "run_remedies") == runs - {"compiled"}
    assert advised("CUDA graphs", "run_remedies WHERE cause = 'host'") == {
        *runs - {"graphs", "no device"}
    }
    assert advised("Load data in worker", "run_remedies") == runs - {"workers"}
    assert advised("Fuse", "advice_checks") == runs - {"compiled"}
    assert advised("CUDA graphs", "advice_checks WHERE kind = 'small_kernels'") == (
        runs - {"graphs"}
    )


def test_a_run_without_a_device_has_advice_on_its_host(small: Relations) -> None:
    assert small.sql(
        "SELECT kind, bound_ns, finding FROM advice WHERE run_id = 'no device'"
    ).fetchall() == [
        (
            "host_bound",
            300_000,
            "No operator ran for 300 µs of the whole recording: the host was in Python, or waited.",
        )
    ]
    of_host = {"host_bound", "recompiled", "dataloader", "straggler"}
    kinds = small.sql("SELECT DISTINCT kind FROM advice_checks").fetchall()
    of_device = {kind for (kind,) in kinds} - of_host
    no_device = dict.fromkeys(of_device, "the run has no device")
    assert reasons(small, "no device") == no_device


def test_a_recompilation_while_measured_quotes_its_reason(small: Relations) -> None:
    found = small.sql(
        "SELECT bound_ns, percent, finding FROM advice "
        "WHERE kind = 'recompiled' AND run_id = 'recompiled'"
    )
    assert found.fetchall() == [
        (
            100_000,
            20,
            "1 compilation in the measured steps took 100 µs in total. Recompilations: 1. "
            f"Reason: {REASON}",
        )
    ]


# Real traces.


@pytest.fixture(scope="module")
def real(sampled: Samples) -> duckdb.DuckDBPyConnection:
    """A store of real traces."""
    return ingest.connect(
        sampled.store(CONTROL, WORKERS0, QWEN, RECOMPILE, EAGER, CUDNN_STARTS, OWLV2)
    )


def bounds(real: duckdb.DuckDBPyConnection, name: str) -> dict[str, int]:
    return dict(
        real.execute(
            "SELECT kind, bound_ns FROM advice INNER JOIN runs USING (run_id) WHERE name = ?",
            [name],
        ).fetchall()
    )


class Plain:
    """A trace in plain Python: the profiler's steps, and the activities that they launched."""

    def __init__(self, path: Path) -> None:
        events = json.loads(decompress(path.read_bytes()))["traceEvents"]
        self.events = [e for e in events if e.get("ph") == "X" and "dur" in e]
        calls = self.of("cuda_runtime", "runtime")
        self.call_of = {e["args"]["correlation"]: e for e in calls if "correlation" in e["args"]}
        steps = [
            ends(e) for e in self.events if e["name"].startswith("ProfilerStep#") and is_host(e)
        ]
        complete = metrics_in_python.read(path)
        [self.parts] = parts_in_python.parts(complete, "ProfilerStep").values()
        [self.counts] = parts_in_python.counts(complete, "ProfilerStep").values()
        median = parts_in_python.median_step(self.parts, is_whole=False)
        self.median_idle_ns = self.parts[median]["idle"]
        self.median_counts = self.counts[median]
        [self.median] = (
            ends(e) for e in self.events if e["name"] == f"ProfilerStep#{median}" and is_host(e)
        )
        self.everything = self.of("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset")
        launched_spans = [
            ends(activity)
            for activity in self.everything
            if (call := self.call(activity))
            and any(since <= ns(call["ts"]) < until for since, until in steps)
        ]
        self.window = (
            min(since for since, _ in steps + launched_spans),
            max(until for _, until in steps + launched_spans),
        )
        self.activities = [
            activity
            for activity in self.everything
            if self.inside(activity) >= (1 if activity["dur"] else 0)  # some have length 0
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
        """Return the events of these categories. Old traces write them in another case."""
        return [e for e in self.events if str(e.get("cat")).lower() in categories]

    def call(self, activity: Event) -> Event | None:
        return self.call_of.get(activity["args"].get("correlation"))

    def is_of_median(self, activity: Event) -> bool:
        """Return whether the median step launched an activity."""
        call = self.call(activity)
        return bool(call) and self.median[0] <= ns(call["ts"]) < self.median[1]

    def around(self, call: Event) -> list[Event]:
        """Return the operators around a call, innermost first, without wrappers."""
        key = (call["pid"], call["tid"])
        last = bisect_right(self.starts.get(key, []), ns(call["ts"])) - 1
        op = self.threads[key][last] if last >= 0 else None
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


def ns(us: float) -> int:
    return round(us * 1000)


def ends(e: Event) -> tuple[int, int]:
    return ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])


def is_host(event: Event) -> bool:
    return str(event.get("cat")).lower() != "gpu_user_annotation"


def is_kernel(activity: Event) -> bool:
    return str(activity["cat"]).lower() == "kernel"


def is_communication(activity: Event) -> bool:
    return is_kernel(activity) and "nccl" in activity["name"].lower()


@pytest.fixture(scope="module")
def plain(sampled: Samples) -> Callable[[str], Plain]:
    """A function that reads a trace, once."""
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
    found, counts = bounds(real, name), plain(name).median_counts
    assert found["exposed_copy"] == counts["exposed_copy_ns"]
    assert found.get("exposed_communication", 0) == counts["exposed_communication_ns"]


def test_advice_of_some_steps_is_what_plain_python_counts(
    real: duckdb.DuckDBPyConnection, plain: Callable[[str], Plain]
) -> None:
    counts, parts = plain(WORKERS0).counts, plain(WORKERS0).parts
    found = {
        kind: (bound, idle, finding)
        for kind, bound, idle, finding in real.execute(
            "SELECT kind, bound_ns, idle_ns, finding FROM "
            "advice_of_steps((SELECT run_id FROM runs WHERE name = ?), 7, 9)",
            [WORKERS0],
        ).fetchall()
    }
    steps = (7, 8, 9)  # the median is step 6
    bound, _, finding = found["exposed_copy"]
    assert bound == sum(counts[step]["exposed_copy_ns"] for step in steps)
    assert "ms of steps 7 to 9; for" in finding
    idle = sum(parts[step]["idle"] for step in steps)
    kinds = ("dataloader", "host_bound", "blocking")
    assert 0.95 * idle < sum(found[kind][1] for kind in kinds) <= idle


def test_advice_of_the_median_step_is_the_advice_of_the_run(
    real: duckdb.DuckDBPyConnection,
) -> None:
    columns = "rank, device, kind, bound_ns, idle_ns, wall_ns, finding, cause, kernel, op"
    medians = real.sql("SELECT run_id, rank, device, step FROM run_metrics").fetchall()
    kinds = real.sql("SELECT DISTINCT kind FROM advice_checks").fetchall()
    for run, rank, device, step in medians:
        of_device = "rank = ? AND device IS NOT DISTINCT FROM ? ORDER BY kind"
        of_run = real.execute(
            f"SELECT {columns} FROM advice_checks WHERE run_id = ? AND {of_device}",
            [run, rank, device],
        )
        expected = of_run.fetchall()
        assert len(expected) == len(kinds)
        of_steps = real.execute(
            f"SELECT {columns} FROM advice_of_steps(?, ?, ?) WHERE {of_device}",
            [run, step, step, rank, device],
        )
        assert of_steps.fetchall() == expected


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
    causes = {
        end - first: cause
        for end, cause in real.execute(
            "SELECT start_ns + dur_ns, cause FROM bubbles INNER JOIN runs USING (run_id) "
            "WHERE name = ?",
            [name],
        ).fetchall()
    }
    taken, of_median = 0, 0
    idle = {"launch": 0, "host": 0}
    for kernel in filter(is_kernel, run.activities):
        call = run.call(kernel)
        if call is None or ns(kernel["dur"]) >= ns(call["dur"]):
            continue
        taken += run.inside(kernel)
        of_median += run.inside(kernel) if run.is_of_median(kernel) else 0
        idle_from = idle_before.get(id(kernel))
        if idle_from is None:
            continue
        since = ends(kernel)[0]
        cause = causes[since]
        if cause not in idle:
            continue
        ops = run.around(call)
        launch_start = ends(ops[-1])[0] if ops else ns(call["ts"])
        idle[cause] += since - max(idle_from, launch_start)
        if cause == "launch" and run.is_of_median(kernel):
            of_median += since - max(idle_from, launch_start)
    assert real.execute(
        "SELECT sum(device_ns), sum(launch_idle_ns), sum(host_idle_ns) FROM short_kernels "
        "INNER JOIN runs USING (run_id) WHERE runs.name = ?",
        [name],
    ).fetchall() == [(taken, idle["launch"], idle["host"])]
    assert bounds(real, name)["small_kernels"] == of_median


@pytest.mark.parametrize(("name", "speedup"), [(CONTROL, 312 / 19.5), (WORKERS0, 125 / 15.7)])
def test_float_matmuls_are_what_plain_python_counts(
    name: str, speedup: float, real: duckdb.DuckDBPyConnection, plain: Callable[[str], Plain]
) -> None:
    """The names of such operators are known in these traces of an A100 and a V100."""
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
            total += sum(run.inside(kernel) for kernel in kernels if run.is_of_median(kernel))
    assert bounds(real, name)["float_matmul"] == total - round(total / speedup)


def test_bounds_are_at_least_the_gains_on_the_critical_path(
    real: duckdb.DuckDBPyConnection,
) -> None:
    gains = """
        SELECT metrics.run_id, metrics.rank, metrics.device, gain.name, gain.gain_ns
        FROM run_metrics AS metrics
        INNER JOIN critical_path_gains AS gain
            ON metrics.run_id = gain.run_id
            AND metrics.source_id = gain.source_id
            AND metrics.step = gain.step
        WHERE gain.level = 'kind' AND metrics.measure = 'device'
    """
    found = real.sql(
        f"""
        SELECT gain.name, bool_and(found.bound_ns >= gain.gain_ns) FROM ({gains}) AS gain
        INNER JOIN advice_checks AS found
            ON gain.run_id = found.run_id AND gain.rank = found.rank
            AND gain.device = found.device AND gain.gain_ns = found.gain_ns
            AND gain.name IN (found.cause, replace(found.kind, 'exposed_', ''))
        GROUP BY gain.name ORDER BY gain.name
        """
    )
    kinds = ["communication", "copy", "dataloader", "host", "sync"]
    assert found.fetchall() == [(kind, True) for kind in kinds]


def test_attentions_of_a_real_run_are_what_plain_python_counts(
    real: duckdb.DuckDBPyConnection, sampled: Samples
) -> None:
    [path] = sampled.files(OWLV2)
    trace = json.loads(decompress(path.read_bytes()))["traceEvents"]
    complete = [e for e in trace if e.get("ph") == "X" and "dur" in e]
    device_ns: dict[int, int] = {}
    for e in complete:
        if e["cat"] == "kernel":
            key = e["args"]["correlation"]
            device_ns[key] = device_ns.get(key, 0) + ns(e["dur"])
    calls = [e for e in complete if e["cat"].startswith("cuda_") and "correlation" in e["args"]]
    names = ("aten::bmm", "aten::_softmax")
    ops = sorted((e for e in complete if e["name"] in names), key=lambda e: e["ts"])
    times = [
        sum(
            device_ns.get(call["args"]["correlation"], 0)
            for call in calls
            if call["tid"] == op["tid"] and op["ts"] <= call["ts"] < op["ts"] + op["dur"]
        )
        for op in ops
    ]
    total = sum(
        sum(times[place - 1 : place + 2])
        for place, op in enumerate(ops)
        if op["name"] == "aten::_softmax"
    )
    assert bounds(real, OWLV2)["unfused_attention"] == total


def test_a_data_loader_without_workers_is_the_first_reachable_advice(
    real: duckdb.DuckDBPyConnection, plain: Callable[[str], Plain]
) -> None:
    found = bounds(real, WORKERS0)
    # 5 gaps of 285,214 µs in six steps, counted in plain Python in test_bubbles
    assert found["dataloader"] == pytest.approx(285_214_000 / 5, rel=0.02)
    idle = [found.get(kind, 0) for kind in ("dataloader", "host_bound", "blocking")]
    assert 0.95 * plain(WORKERS0).median_idle_ns < sum(idle) <= plain(WORKERS0).median_idle_ns
    first = real.sql(
        "SELECT kind FROM advice INNER JOIN runs USING (run_id) "
        f"WHERE name = '{WORKERS0}' ORDER BY is_reachable DESC, bound_ns DESC"
    )
    assert first.fetchall()[0] == ("dataloader",)


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
    assert 1 <= found["recompiled"] / taken < 1.01  # time between the phases counts too
    assert real.sql(
        "SELECT finding LIKE '2 compilations%: 1 (no reason was recorded).' FROM advice "
        "WHERE kind = 'recompiled'"
    ).fetchall() == [(True,)]


def test_no_idle_time_of_a_real_run_counts_twice(real: duckdb.DuckDBPyConnection) -> None:
    assert real.sql(DOUBLE_COUNTED).fetchall() == []
    found = real.sql(
        "SELECT finding FROM advice_checks INNER JOIN runs USING (run_id) "
        f"WHERE name = '{CUDNN_STARTS}' AND kind = 'small_kernels'"
    ).fetchall()
    assert "Another 10.0 s of idle time before them" in found[0][0]


def test_waits_of_a_real_run_are_those_of_its_source(real: duckdb.DuckDBPyConnection) -> None:
    found = real.sql(
        "SELECT wait, wait_frame, idle_ns FROM waits INNER JOIN runs USING (run_id) "
        "WHERE name LIKE 'h100_qwen%' ORDER BY idle_ns DESC"
    ).fetchall()
    assert found == [
        ("cudaDeviceSynchronize", "torch/cuda/__init__.py(975): synchronize", 290_943),
        (
            "aten::is_nonzero",
            "transformers/modeling_attn_mask_utils.py(243): _ignore_causal_mask_sdpa",
            148_127,
        ),
    ]


def test_causes_add_up_to_the_metrics_of_the_median_step(real: duckdb.DuckDBPyConnection) -> None:
    assert (
        real.sql(
            """
            SELECT metrics.run_id FROM run_metrics AS metrics
            LEFT JOIN (
                SELECT run_id, rank, device, count(*) AS bubbles
                FROM measured_bubbles WHERE is_median GROUP BY run_id, rank, device
            ) AS causes USING (run_id, rank, device)
            WHERE metrics.measure = 'device' AND metrics.bubbles <> coalesce(causes.bubbles, 0)
            """
        ).fetchall()
        == []
    )


def test_bubbles_add_up_to_the_totals_of_the_run(real: duckdb.DuckDBPyConnection) -> None:
    assert (
        real.sql(
            """
            SELECT totals.run_id FROM run_totals AS totals
            LEFT JOIN (
                SELECT run_id, rank, device, sum(dur_ns) AS idle_ns, count(*) AS bubbles
                FROM measured_bubbles GROUP BY run_id, rank, device
            ) AS found USING (run_id, rank, device)
            WHERE totals.measure = 'device'
            AND (
                totals.fill_ns + totals.idle_ns <> coalesce(found.idle_ns, 0)
                OR totals.bubbles <> coalesce(found.bubbles, 0)
            )
            """
        ).fetchall()
        == []
    )


def test_short_kernels_are_as_many_as_in_the_metrics(real: duckdb.DuckDBPyConnection) -> None:
    assert (
        real.sql(
            """
            SELECT run_id, found.calls, totals.short_kernels, found.step_calls
            FROM run_totals AS totals
            INNER JOIN run_metrics AS metrics USING (run_id, rank, device)
            LEFT JOIN (
                SELECT
                    run_id, rank, device, sum(calls) AS calls,
                    sum(calls) FILTER (WHERE is_median) AS step_calls
                FROM short_kernels GROUP BY run_id, rank, device
            ) AS found USING (run_id, rank, device)
            WHERE metrics.measure = 'device' AND (
                coalesce(found.calls, 0) <> totals.short_kernels
                OR coalesce(found.step_calls, 0) <> metrics.short_kernels
            )
            """
        ).fetchall()
        == []
    )
