"""Device time as a union of intervals, and the ways to find a launch."""

from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest import sql
from tests.builders.events import Event, kernel, op
from tests.builders.relations import built, ranks
from tests.conftest import Traces

Activity = tuple[int, int, int]  # start, length, device


def union(intervals: list[tuple[int, int]]) -> tuple[int, int]:
    """Return the covered length and the number of gaps of intervals."""
    covered, gaps, reached = 0, 0, None
    for start, end in sorted(intervals):
        if reached is not None and start > reached:
            gaps += 1
        covered += max(0, end - (start if reached is None else max(start, reached)))
        reached = end if reached is None else max(reached, end)
    return covered, gaps


def islands_of(
    connection: duckdb.DuckDBPyConnection, activities: list[Activity]
) -> list[tuple[int, int, int, int]]:
    """Return device, covered length, number of gaps, and the length from first to last."""
    starts, lengths, devices = zip(*activities, strict=True)
    connection.execute(
        "CREATE OR REPLACE TABLE kernels AS SELECT 0 AS source_id, 0 AS rank, "
        "unnest($3) AS device_id, unnest($1) AS start_ns, unnest($2) AS dur_ns, "
        "unnest(range($4)) AS event_id, 'compute' AS class",
        [starts, lengths, devices, len(activities)],
    )
    return connection.sql(
        "SELECT device_id, sum(end_ns - start_ns)::BIGINT, count(*) - 1, "
        "max(end_ns) - min(start_ns) FROM islands('kernels') GROUP BY device_id"
    ).fetchall()


def test_islands_are_the_union() -> None:
    connection = duckdb.connect()
    connection.execute(sql.files()["islands"].statement)

    @given(
        st.lists(
            st.tuples(st.integers(0, 60), st.integers(0, 9), st.integers(0, 1)),
            min_size=1,
            max_size=30,
        )
    )
    @settings(max_examples=100, deadline=None)
    def check(activities: list[Activity]) -> None:
        rows = islands_of(connection, activities)
        assert len(rows) == len({device for *_, device in activities})
        for device, busy, gaps, span in rows:
            intervals = [
                (start, start + length) for start, length, on in activities if on == device
            ]
            assert (busy, gaps) == union(intervals)
            assert span == max(end for _, end in intervals) - min(start for start, _ in intervals)
            assert busy <= span

    check()


def event(category: str, name: str, ts: float, dur: float, **more: Any) -> Event:
    return op(name, ts, dur, cat=category, **{"args": {}, **more})


FLOW = {"cat": "ac2g", "name": "ac2g", "id": 44}

LINKS = {
    "by correlation": (
        [
            event("cpu_op", "aten::mm", 0, 10, args={"External id": 9}),
            event("cuda_runtime", "cudaLaunchKernel", 2, 3, args={"correlation": 1}),
            kernel("gemm", 20, 5, correlation=1),
        ],
        ("correlation", "aten::mm", 2000),
    ),
    "by driver call": (
        [
            event("cpu_op", "triton_poi_0", 0, 10),
            event("cuda_driver", "cuLaunchKernel", 3, 3, args={"correlation": 1}),
            kernel("triton_poi_0", 20, 5, correlation=1),
        ],
        ("correlation", "triton_poi_0", 3000),
    ),
    "by flow": (
        [
            event("cpu_op", "aten::zero_", 0, 10),
            event("cuda_runtime", "hipMemsetAsync", 4, 3),
            {"ph": "s", "pid": 1, "tid": 1, "ts": 4, **FLOW},
            {"ph": "f", "pid": 0, "tid": 7, "ts": 20, "bp": "e", **FLOW},
            kernel("Memset", 20, 5, "gpu_memset"),
        ],
        ("flow", "aten::zero_", 4000),
    ),
    "by external id": (
        [
            event("cpu_op", "aten::add", 1, 10, args={"External id": 9}),
            kernel("add", 20, 5, **{"External id": 9}),
        ],
        ("external_id", "aten::add", 1000),
    ),
    "not at all": (
        [event("cpu_op", "aten::add", 1, 10), kernel("add", 20, 5, correlation=3)],
        (None, None, None),
    ),
}


def test_a_launch_is_found() -> None:
    found = built(ranks(events for events, _ in LINKS.values())).by_rank(
        "SELECT rank, link, op, launch_ns FROM kernels"
    )
    assert dict(zip(LINKS, found, strict=True)) == {
        way: [expected] for way, (_, expected) in LINKS.items()
    }


# Category of the launch, category and name of the activity → its kind and class.
ACCELERATORS = {
    ("mtia_runtime", "mtia_ccp_events", "pe_exe"): ("kernel", "compute"),
    ("mtia_runtime", "mtia_ccp_events", "dma_request"): ("memcpy", "copy"),
    ("xpu_runtime", "kernel", "gemm"): ("kernel", "compute"),
    ("musa_runtime", "kernel", "gemm_musa"): ("kernel", "compute"),
    ("new2_driver", "new2_memcpy", "Memcpy HtoD"): ("memcpy", "copy"),
    ("xpu_driver", "kernel", "gemm"): ("kernel", "compute"),
    ("mlu_runtime", "kernel", "MLUUnion1KernelAdd"): ("kernel", "compute"),
    ("mlu_runtime", "mlu_memcpy", "Memcpy HtoD"): ("memcpy", "copy"),
    ("mlu_runtime", "mlu_memset", "Memset"): ("memset", "copy"),
    ("gcu_runtime", "GCU_MEMCPY", "Memcpy HtoD"): ("memcpy", "copy"),
    ("gcu_driver", "GCU_MEMSET", "Memset"): ("memset", "copy"),
}


def test_activities_of_other_accelerators_are_recognised() -> None:
    traces = [
        [
            event("cpu_op", "aten::add", 1, 10),
            event(launch, "launch", 2, 3, args={"correlation": 5}),
            kernel(name, 20, 5, category, correlation=5),
        ]
        for launch, category, name in ACCELERATORS
    ]
    found = built(ranks(traces)).by_rank("SELECT rank, kind, class, link, op FROM kernels")
    assert dict(zip(ACCELERATORS, found, strict=True)) == {
        names: [(*expected, "correlation", "aten::add")] for names, expected in ACCELERATORS.items()
    }


def test_waits_and_annotations_of_other_accelerators_are_not_activities() -> None:
    named = [
        ("mtia_ccp_events", "event_wait"),
        ("mtia_ccp_events", "event_record"),
        ("mlu_user_annotation", "step"),
        ("GCU_USER_ANNOTATION", "step"),
    ]
    relations = built(
        ranks([kernel(name, 0, 90, category), kernel("k", 10, 5)] for category, name in named)
    )
    kernels = relations.by_rank("SELECT rank, name FROM kernels")
    assert dict(zip(named, kernels, strict=True)) == {each: [("k",)] for each in named}
    events = relations.by_rank("SELECT rank, count(*) FROM events GROUP BY rank")
    assert dict(zip(named, events, strict=True)) == {each: [(2,)] for each in named}


def test_a_wait_of_another_accelerator_blocks_the_host() -> None:
    events = [
        *(event("cpu_op", "aten::add", 1, 10), kernel("k", 20, 5, correlation=5)),
        event("musa_runtime", "musaLaunchKernel", 2, 3, args={"correlation": 5}),
        event("musa_runtime", "musaStreamSynchronize", 15, 15),
        *(event("cpu_op", "aten::mul", 40, 20), kernel("l", 70, 5, correlation=6)),
        event("musa_runtime", "musaLaunchKernel", 50, 3, args={"correlation": 6}),
    ]
    gaps = built(events).sql("SELECT cause, wait FROM bubbles WHERE NOT is_edge").fetchall()
    assert gaps == [("sync", "musaStreamSynchronize")]


CLASSES = {
    "communication": [
        "ncclDevKernel_AllReduce_Sum_f16",
        "void vllm::cross_device_reduce_1stage<float, 2>(vllm::RankData*)",
        "multimem_all_reduce_kernel",
        "void one_shot_all_reduce_kernel<float>()",
        "twoShotAllReduceKernel",
        "allreduce_fusion_kernel_twoshot_sync<2, __half>",
        "void deep_ep::intranode::dispatch<8>(int4*)",
        "quickreduce::allreduce_prototype_twoshot",
        "userbuffers_fp16_sum_inplace_gpu_rr_rs",
        "reduce_scatter_cross_device_store<2>",
        "mscclpp::collective::allreduce",
        "mori::moe::EpDispatchIntraNodeKernel",
        "triton_all_reduce_kernel",
    ],
    "compute": [
        "triton_poi_fused_add_0",
        "void at::native::reduce_kernel<512, 1>()",
        "memorize_kernel",
        "sm90_gemm",
        "void flash_fwd_splitkv_combine()",
    ],
}


def test_only_kernels_that_move_data_between_ranks_are_communication() -> None:
    names = {name: work for work, names in CLASSES.items() for name in names}
    connection = built([kernel(name, 10 * n, 5) for n, name in enumerate(names)])
    assert dict(connection.sql("SELECT name, class FROM kernels").fetchall()) == names


def test_copies_and_sets_are_distinguished(traces: Traces) -> None:
    connection = traces.add(
        [
            kernel("Memcpy HtoD", 0, 10, "gpu_memcpy"),
            kernel("Memset", 5, 10, "gpu_memset", stream=8),
            kernel("Memcpy DtoH", 12, 2, "gpu_memcpy"),
        ]
    )
    rows = connection.sql("SELECT copy_ns, memcpy_ns, memset_ns FROM device_time").fetchall()
    assert rows == [(15_000, 12_000, 10_000)]


def test_events_that_resemble_device_activities_are_not_counted() -> None:
    """Examples: host operators of Triton with a stream, and sync events with a device."""
    connection = built(
        [
            event("cpu_op", "triton_poi", 0, 50, args={"stream": 7, "grid": [1, 1, 1]}),
            event("cuda_sync", "Stream Wait", 0, 90, pid=0, tid=7, args={"device": 0, "stream": 7}),
            event("gpu_user_annotation", "step", 0, 90, pid=0, tid=7),
            kernel("k", 10, 5, stream=0),
        ]
    )
    rows = connection.sql("SELECT name, stream FROM kernels").fetchall()
    assert rows == [("k", 0)]
    assert connection.sql("SELECT span_ns, bubbles FROM device_time").fetchall() == [(5000, 0)]


def test_top_operators_ignore_wrappers_and_classes_divide_the_span() -> None:
    launches = [
        event("cuda_runtime", "cudaLaunchKernel", ts, 1, args={"correlation": ts})
        for ts in (3, 4, 5)
    ]
    connection = built(
        [
            event("cpu_op", "Torch-Compiled Region: 0/0", 0, 90),
            event("cpu_op", "CompiledFunctionBackward", 1, 50),
            event("cpu_op", "aten::mm", 2, 2.5),
            *launches,
            kernel("gemm", 10, 10, correlation=3),
            kernel("ncclDevKernel_AllReduce", 15, 15, correlation=4, stream=20),
            kernel("Memcpy DtoH", 28, 12, "gpu_memcpy", correlation=5),
        ]
    )
    kernels = connection.sql("SELECT class, top_op, op FROM kernels ORDER BY start_ns").fetchall()
    assert kernels == [
        ("compute", "aten::mm", "aten::mm"),
        ("communication", "aten::mm", "aten::mm"),
        ("copy", None, "CompiledFunctionBackward"),
    ]
    assert connection.sql(
        "SELECT span_ns, busy_ns, compute_ns, communication_ns, copy_ns, "
        "exposed_communication_ns, exposed_copy_ns FROM device_time"
    ).fetchall() == [(30_000, 30_000, 10_000, 15_000, 12_000, 10_000, 10_000)]
    ranking = connection.sql("SELECT op, calls, device_ns, percent FROM op_ranking ORDER BY 3 DESC")
    assert ranking.fetchall() == [
        # Of 90 µs, the device is idle for 10 before the activities and for 50 after them.
        ("bubble", 2, 60_000, pytest.approx(100 * 60 / 90)),
        ("aten::mm", 2, 25_000, pytest.approx(100 * 25 / 90)),
        ("(no op)", 1, 12_000, pytest.approx(100 * 12 / 90)),
    ]
