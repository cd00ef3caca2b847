"""Hardware counters beside the computed work: a built trace, and one of AlexNet on an A100."""

from typing import Any

import pytest

import ingest
from ingest import AddOptions
from tests.builders.events import Event, op
from tests.builders.relations import Relations, Run, built
from tests.helpers.samples import Samples
from tests.ingest.sql.limits.test_efficiency import BFLOAT16, SQUARE, TAGS

# What torch records for `kineto__cuda_core_flops`.
INSTRUCTIONS = ("dadd", "dmul", "dfma", "fadd", "fmul", "ffma", "hadd", "hmul", "hfma")
TENSOR = "sm__inst_executed_pipe_tensor.sum"
READ, WRITTEN, MOVED = "dram__bytes_read.sum", "dram__bytes_write.sum", "dram__bytes.sum"


def instructions(**counts: int) -> dict[str, int]:
    return {
        f"smsp__sass_thread_inst_executed_op_{name}_pred_on.sum": counts.get(name, 0)
        for name in INSTRUCTIONS
    }


# The counters of a kernel, and the operations and bytes that they show.
KERNELS: dict[str, tuple[dict[str, int], Any, Any]] = {
    "each instruction": (instructions(**dict.fromkeys(INSTRUCTIONS, 1)), 12, None),
    "fused ones are two operations": (
        {**instructions(ffma=10, fadd=1), READ: 30, WRITTEN: 4},
        21,
        34,
    ),
    "bytes in one counter": ({MOVED: 7}, None, 7),
    "only the bytes that are read": ({**instructions(), READ: 30}, 0, None),
    "not all instructions": ({**instructions(), MOVED: 1} | {TENSOR: 0}, 0, 1),
    "on tensor cores": ({**instructions(fadd=5), TENSOR: 3, MOVED: 9}, None, 9),
    "ampere_bf16_s16816gemm": (instructions(fadd=5), None, None),
    "other counters": ({"sm__cycles_elapsed.max": 5}, None, None),
}


def measurement(name: str, start_us: float, counters: dict[str, int]) -> Event:
    return op(name, start_us, 1, cat="cuda_profiler_range", pid=0, tid=0, args=counters)


def launch(start_us: float) -> Event:
    return op("cudaLaunchKernel", start_us, 1, cat="cuda_runtime", args={"correlation": 1})


def of(events: list[Event]) -> Relations:
    return built(Run({"trace.json": {"traceEvents": events}}, AddOptions(tags=TAGS)))


def test_counters_show_the_operations_and_bytes_of_kernels() -> None:
    found = of(
        [
            event
            for number, (name, (counters, *_)) in enumerate(KERNELS.items())
            for event in (
                launch(10 * number + 1),
                measurement(name, 1000 + 10 * number, counters),
            )
        ]
    )
    rows = found.sql(
        "SELECT kernel, measured_flops, measured_bytes FROM counted_kernels ORDER BY ordinal"
    ).fetchall()
    assert rows == [(name, *expected) for name, (_, *expected) in KERNELS.items()]


def test_a_missing_kind_of_instruction_makes_the_operations_unknown() -> None:
    counters = instructions(ffma=10)
    counters.popitem()
    found = of([launch(1), measurement("k", 100, counters)])
    assert found.sql("SELECT measured_flops FROM counted_kernels").fetchall() == [(None,)]


def product(start_us: float) -> list[Event]:
    """Return a product that launches two kernels."""
    shapes = {"Input Dims": SQUARE, "Input type": [BFLOAT16] * 2}
    call = op("aten::mm", start_us, 20, args=shapes)
    return [call, launch(start_us + 1), launch(start_us + 5)]


MEASURED = [
    measurement("a", 1000, {**instructions(ffma=900_000_000), MOVED: 4_000_000}),
    measurement("b", 1010, {**instructions(ffma=110_000_000), MOVED: 3_000_000}),
]


def test_measured_work_is_beside_the_computed_work() -> None:
    found = of([*product(100), *MEASURED])
    assert found.sql(
        "SELECT op, flops, measured_flops, bytes, measured_bytes FROM op_efficiency"
    ).fetchall() == [("aten::mm", 2 * 10**9, 2_020_000_000, 6_000_000, 7_000_000)]
    assert found.sql(
        "SELECT kernel, op, level, flops, measured_flops, measured_bytes, dur_ns, tflop_per_s "
        "FROM kernel_efficiency ORDER BY kernel"
    ).fetchall() == [
        ("a", "aten::mm", "operator", 2 * 10**9, 1_800_000_000, 4_000_000, None, None),
        ("b", "aten::mm", "operator", 2 * 10**9, 220_000_000, 3_000_000, None, None),
    ]
    assert found.sql("SELECT count(*) FROM kernel_shapes_of_steps()").fetchall() == [(0,)]


def test_measurements_that_fit_no_launches_belong_to_no_operator() -> None:
    found = of([*product(100), MEASURED[0]])
    assert found.sql("SELECT measured_flops FROM op_efficiency").fetchall() == [(None,)]
    assert found.sql("SELECT count(*) FROM kernel_efficiency").fetchall() == [(0,)]


@pytest.mark.parametrize(
    ("inputs", "outputs", "padded"), [(9216, 4096, 0.001), (4096, 4096, 0.001), (4096, 1000, 0.07)]
)
def test_the_classifier_of_alexnet_executes_the_operations_of_its_shapes(
    sampled: Samples, inputs: int, outputs: int, padded: float
) -> None:
    """The batch of 128 and the sizes of AlexNet are known; the trace has no shapes."""
    flops = 2 * 128 * inputs * outputs
    with ingest.connect(sampled.store("cupti_counters")) as connection:
        rows = connection.execute(
            "SELECT op, measured_flops FROM kernel_efficiency "
            "WHERE measured_flops BETWEEN $1 AND $2",
            [flops, flops * (1 + padded)],
        ).fetchall()
    assert [name for name, _ in rows] == ["aten::addmm"] * 2
