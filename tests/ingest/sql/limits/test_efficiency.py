"""How close operators, kernels and runs come to the limits, on a device with round peaks."""

from typing import Any

import pytest

from ingest import AddOptions
from ingest.reports import efficiency
from tests.builders.events import Event, op
from tests.builders.relations import Relations, Run, built
from tests.builders.work import BFLOAT16, TAGS, call

FLOPS = 2 * 1000 * 1000 * 1000
BYTES = 3 * 2 * 1000 * 1000


SQUARE = [[1000, 1000], [1000, 1000]]
CALLS = {
    # 20 µs at the peak, 6 µs at the bandwidth
    "compute": call("aten::mm", 100, SQUARE, [BFLOAT16] * 2, 25),
    "neither": call("aten::mm", 200, SQUARE, [BFLOAT16] * 2, 50),
    "two kernels": call("aten::mm", 300, SQUARE, [BFLOAT16] * 2, 30, 10),
    "too fast": call("aten::mm", 400, SQUARE, [BFLOAT16] * 2, 10),
    "TF32": call("aten::mm", 500, SQUARE, ["float"] * 2, 50, kernel="sm80_tf32_gemm"),
    "float32": call("aten::mm", 600, SQUARE, ["float"] * 2, 400, kernel="sgemm"),
    # 6 MB: 6 µs at the bandwidth
    "memory": call("aten::add", 1100, [[1000, 1000]] * 2, [BFLOAT16] * 2, 8),
    "launch": call("aten::add", 1200, [[100]] * 2, [BFLOAT16] * 2, 2, launch_us=3),
    "from the host": call(
        "aten::copy_",
        1300,
        [[1000, 1000]] * 2,
        [BFLOAT16] * 2,
        90,
        kernel="Memcpy HtoD (Pageable -> Device)",
        category="gpu_memcpy",
    ),
    # A copy between devices is as fast as their link. One inside a device reads and writes memory.
    "between devices": call(
        "aten::copy_",
        1400,
        [[1000, 1000]] * 2,
        [BFLOAT16] * 2,
        40,
        kernel="Memcpy PtoP (Device -> Device)",
        category="gpu_memcpy",
    ),
    "inside a device": call(
        "aten::copy_",
        1450,
        [[1000, 1000]] * 2,
        [BFLOAT16] * 2,
        5,
        kernel="Memcpy DtoD (Device -> Device)",
        category="gpu_memcpy",
    ),
    "unknown bytes": call("aten::cat", 1500, [[[2, 3]], []], ["TensorList", "Scalar"], 5),
    "an unknown type": call("aten::mm", 1600, SQUARE, ["c10::Nibble"] * 2, 25),
}


ALONE = ("compute", "float32", "memory", "an unknown type")  # calls that are runs of their own


@pytest.fixture(scope="module")
def relations() -> Relations:
    everything = [event for events in CALLS.values() for event in events]
    runs = {"all": everything, **{name: CALLS[name] for name in ALONE}}
    return built(
        {
            name: Run({"trace.json": {"traceEvents": events}}, AddOptions(tags=TAGS))
            for name, events in runs.items()
        }
    )


# The peak, the times at the peak and at the bandwidth, what bounds the call, the time that reaching
# the roofline saves and the time that 80 % of it saves, and a warning.
EXPECTED: dict[str, tuple[Any, ...]] = {
    "compute": ("bfloat16", 20_000, 6_000, "compute", 5_000, 0, None),
    "neither": ("bfloat16", 20_000, 6_000, "neither", 30_000, 25_000, None),
    "two kernels": ("bfloat16", 20_000, 6_000, "neither", 20_000, 15_000, None),
    "too fast": ("bfloat16", 20_000, 6_000, "compute", 0, 0, "above_peak"),
    "TF32": ("tf32", 40_000, 12_000, "compute", 10_000, 0, None),
    "float32": ("float32", 200_000, 12_000, "neither", 200_000, 150_000, None),
    "memory": ("float32", 100, 6_000, "memory", 2_000, 500, None),
    "launch": ("float32", 0.01, 0.6, "launch", 1_999, 1_999, None),
    "from the host": ("float32", 0, None, None, None, None, None),
    "between devices": ("float32", 0, None, None, None, None, None),
    "inside a device": ("float32", 0, 4_000, "memory", 1_000, 0, None),
    "unknown bytes": ("float32", 0, None, None, None, None, None),
    "an unknown type": (None, None, None, None, None, None, None),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_compared_with_the_limits(relations: Relations, name: str) -> None:
    ((*found,),) = relations.execute(
        "SELECT precision, at_peak_ns, at_bandwidth_ns, bound, saved_ns, saved_80_ns, warning "
        "FROM op_efficiency AS work JOIN ops ON op_id = event_id AND work.run_id = ops.run_id "
        "WHERE work.run_id = 'all' AND start_ns = ?",
        [int(CALLS[name][0]["ts"] * 1000)],
    ).fetchall()
    assert found == [
        pytest.approx(value) if isinstance(value, int | float) else value
        for value in EXPECTED[name]
    ]


def test_work_that_several_kernels_share_is_that_of_their_operator(relations: Relations) -> None:
    found = relations.sql(
        "SELECT kernel, level, round(tflop_per_s, 3), round(saved_ns) FROM kernel_efficiency "
        "WHERE run_id = 'all' AND level = 'operator' ORDER BY kernel"
    ).fetchall()
    assert found == [
        ("gemm_0", "operator", FLOPS / 40_000 / 1e3, 15_000),
        ("gemm_1", "operator", FLOPS / 40_000 / 1e3, 5_000),
    ]


def test_sums_of_calls_agree_at_all_levels(relations: Relations) -> None:
    rows = relations.sql(
        "SELECT level, sum(work_ns), sum(flops), sum(saved_ns) "
        "FROM efficiency_of_steps('all', NULL, NULL) GROUP BY level"
    ).fetchall()
    (total,) = relations.sql(
        "SELECT sum(work_ns), sum(flops), sum(saved_ns) FROM op_efficiency WHERE run_id = 'all'"
    ).fetchall()
    assert {level: tuple(map(float, sums)) for level, *sums in rows} == {
        level: pytest.approx(tuple(map(float, total))) for level in efficiency.LEVELS
    }


def test_rates_of_several_calls_are_of_their_time(relations: Relations) -> None:
    ((calls, work_ns, rate, peak, bandwidth),) = relations.sql(
        "SELECT calls, work_ns, tflop_per_s, peak_percent, bandwidth_percent "
        "FROM efficiency_of_steps('all', NULL, NULL) "
        "WHERE level = 'op' AND name = 'aten::mm' AND dtype = 'bfloat16'"
    ).fetchall()
    time_ns = 25_000 + 50_000 + 40_000 + 10_000
    assert (calls, work_ns) == (4, time_ns)
    assert rate == pytest.approx(4 * FLOPS / time_ns / 1e3)
    assert peak == pytest.approx(100 * 80_000 / time_ns)
    assert bandwidth == pytest.approx(100 * 4 * BYTES / time_ns / 1e3)


def test_utilisation_is_the_time_of_products_at_their_peaks(relations: Relations) -> None:
    ((wall_ns, mfu, known, reason),) = relations.sql(
        "SELECT wall_ns, mfu_percent, known_percent, unknown_reason FROM run_efficiency "
        "WHERE run_id = 'float32'"
    ).fetchall()
    assert mfu == pytest.approx(100 * 200_000 / wall_ns)
    assert (known, reason) == (100, None)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("an unknown type", "no_peak"), ("memory", "no_products"), ("compute", None)],
)
def test_an_unknown_utilisation_has_a_reason(
    relations: Relations, name: str, reason: str | None
) -> None:
    found = relations.execute(
        "SELECT mfu_percent IS NULL, unknown_reason FROM run_efficiency WHERE run_id = ?", [name]
    ).fetchall()
    assert found == [(reason is not None, reason)]


def test_metrics_of_runs_have_utilisation_bandwidth_and_rate(relations: Relations) -> None:
    found = relations.sql(
        "SELECT metric, unit, value FROM run_metrics_long "
        "WHERE run_id = 'compute' AND metric IN ('mfu', 'bandwidth', 'flop_rate') ORDER BY ordinal"
    ).fetchall()
    ((wall_ns,),) = relations.sql(
        "SELECT wall_ns FROM run_metrics WHERE run_id = 'compute'"
    ).fetchall()
    assert found == [
        ("mfu", "percent", pytest.approx(100 * 20_000 / wall_ns)),
        ("bandwidth", "percent", pytest.approx(100 * 6_000 / wall_ns)),
        ("flop_rate", "TFLO/s", pytest.approx(FLOPS / wall_ns / 1e3)),
    ]


def of_one(events: list[Event], **tags: str) -> Relations:
    return built(Run({"trace.json": {"traceEvents": events}}, AddOptions(tags={**TAGS, **tags})))


def test_bytes_that_do_not_fit_are_unknown() -> None:
    """The bytes of each side fit into 64 bits, but not those of both."""
    huge = [[10**9, 10**9]] * 2
    found = of_one(call("aten::copy_", 1, huge, ["long int"] * 2, 5))
    assert found.sql("SELECT bytes_read, bytes_written, bytes FROM op_work").fetchall() == [
        (8 * 10**18, 8 * 10**18, None)
    ]
    assert found.sql("SELECT bytes, tb_per_s FROM run_efficiency").fetchall() == [(None, None)]


def test_a_kernel_can_take_seconds() -> None:
    found = of_one(call("aten::mm", 1, SQUARE, [BFLOAT16] * 2, 4_000_000))
    assert found.sql("SELECT saved_ns FROM kernel_efficiency").fetchall() == [(3_999_980_000,)]


@pytest.mark.parametrize("peak", ["nan", "inf", "-1", "0", "many", ""])
def test_a_peak_that_is_not_a_number_above_0_is_unknown(peak: str) -> None:
    found = of_one(CALLS["compute"], peak_bfloat16=peak, peak_bandwidth=peak)
    assert found.sql("SELECT at_peak_ns, roofline_ns, saved_ns FROM op_efficiency").fetchall() == [
        (None, None, None)
    ]


def test_work_on_two_devices_is_on_the_one_with_the_most_time() -> None:
    events = call("aten::mm", 1, SQUARE, [BFLOAT16] * 2, 30, 40)
    events[-1]["args"]["device"] = events[-1]["pid"] = 1
    found = of_one(events)
    assert found.sql("SELECT device, flops, work_ns FROM op_efficiency").fetchall() == [
        (1, FLOPS, 40_000)
    ]
    assert found.sql(
        "SELECT device, level FROM kernel_efficiency JOIN devices USING (run_id, device_id) "
        "ORDER BY device"
    ).fetchall() == [(0, None), (1, "kernel")]
    assert found.sql("SELECT device, flops FROM step_work ORDER BY device").fetchall() == [
        (0, None),
        (1, FLOPS),
    ]


def test_calls_without_a_roofline_do_not_change_what_bounds_the_others() -> None:
    events = [
        *call("aten::mm", 100, SQUARE, [BFLOAT16] * 2, 25),
        *call("aten::_foreach_add_", 200, [[[1000, 1000]], []], ["TensorList", "Scalar"], 75),
    ]
    found = of_one(events)
    ((bound, intensity),) = found.sql(
        "SELECT bound, intensity FROM efficiency_of_steps() WHERE level = 'module'"
    ).fetchall()
    assert (bound, intensity) == ("compute", pytest.approx(FLOPS / BYTES))


# Of 1000 rows, 10 are 1 % of the operations. No peak is known for float16.
@pytest.mark.parametrize(
    ("rows", "at_peak_ns", "reason"), [(10, 19_800, None), (11, None, "no_peak")]
)
def test_a_type_that_hardly_counts_may_lack_a_peak(
    rows: int, at_peak_ns: int | None, reason: str | None
) -> None:
    shapes = [[1000 - rows, 1000], [1000, 1000]], [[rows, 1000], [1000, 1000]]
    events = [
        *call("aten::mm", 100, shapes[0], [BFLOAT16] * 2, 25),
        *call("aten::mm", 300, shapes[1], ["c10::Half"] * 2, 2),
    ]
    found = of_one(events).sql(
        "SELECT flops, mfu_percent * wall_ns / 100, unknown_reason FROM run_efficiency"
    )
    assert found.fetchall() == [(FLOPS, at_peak_ns and pytest.approx(at_peak_ns), reason)]


def test_all_work_of_a_host_is_known_if_its_operators_overlap() -> None:
    """Two threads compute for 100 µs each, and for 50 µs at the same time."""
    shapes = {"Input Dims": SQUARE, "Input type": [BFLOAT16] * 2}
    events = [op("aten::mm", 100 + 50 * n, 100, tid=n, args=shapes) for n in range(2)]
    found = of_one(events).sql("SELECT flops, known_percent, is_lower_bound FROM run_efficiency")
    assert found.fetchall() == [(2 * FLOPS, 100, False)]
