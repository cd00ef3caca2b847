"""Work that MegEngine's profiler recorded, in the views of work and of efficiency."""

import json
from pathlib import Path

import pytest

from ingest import AddOptions
from tests.builders.megengine import CPU, GPU, OTHER_GPU, THREAD, Opr, content, profile, variable
from tests.builders.relations import Relations, Run, built
from tests.helpers.samples import MEGENGINE

OTHER = "other thread"
DISPATCHES = [f"comp_node_dispatch:{node}" for node in (GPU, OTHER_GPU)]


def recorded(number: int, computation: object, memory: object, type: str = "Elemwise") -> Opr:
    """Return an operator that takes 2 s on a comp node."""
    times = (3 * number, 3 * number, 3 * number + 2)
    return Opr(
        str(number),
        type,
        device={CPU: times},
        host={THREAD: times},
        reads=["x"],
        computation=computation,
        memory=memory,
    )


def work_of(*oprs: Opr, **more: object) -> Relations:
    return built(profile(*oprs, **more), "op_work", "megengine_oprs")


@pytest.mark.parametrize("name", MEGENGINE)
def test_work_is_what_the_profiles_record(samples: Path, name: str) -> None:
    """Sums of all operators, counted once in the work of operators, steps and runs."""
    text = (samples / "megengine" / f"{name}.json").read_text()
    footprints = json.loads(text)["profiler"]["opr_footprint"].values()
    expected = (
        sum(each["computation"] or 0 for each in footprints),
        sum(each["memory"] for each in footprints),
        sum(each["computation"] is not None for each in footprints),
        len(footprints),
    )
    relations = built(text)
    counted = "SELECT coalesce(sum(flops), 0), sum(bytes), count(flops), count(bytes) FROM"
    for relation in ("op_work", "op_efficiency"):
        assert relations.sql(f"{counted} {relation}").fetchall() == [expected]
    for relation in ("step_work", "run_work", "run_efficiency"):
        query = f"SELECT coalesce(sum(flops), 0), sum(bytes) FROM {relation}"
        assert relations.sql(query).fetchall() == [expected[:2]]
    recorded = "SELECT sum(activities) FILTER (reason IS NULL), sum(activities) FROM work_coverage"
    assert relations.sql(recorded).fetchall() == [(expected[2] or None, expected[3])]


def test_figures_that_are_no_numbers_are_null_with_a_reason() -> None:
    figures = [(12, 48), (None, 48), (-12, 48), (12, -48), ("x", 1.5), (0, 0), (2**70, None)]
    relations = work_of(*(recorded(number, *each) for number, each in enumerate(figures)))
    query = """
        SELECT flops, bytes, flops_reason, bytes_reason, bytes_read, bytes_written, bytes_at_most
        FROM op_work WHERE formula = 'megengine' ORDER BY op_id
    """
    unknown = "not_recorded"
    assert relations.sql(query).fetchall() == [
        (*row, None, None, None)
        for row in [
            (12, 48, None, None),
            (None, 48, unknown, None),
            (None, 48, unknown, None),
            (12, None, None, unknown),
            (None, None, unknown, unknown),
            (None, 0, unknown, None),
            (None, None, unknown, unknown),
        ]
    ]


def test_work_counts_once_on_several_comp_nodes() -> None:
    """The second comp node takes longer, so the work is on it."""
    opr = Opr(
        "1",
        device={GPU: (0, 0, 2), OTHER_GPU: (0, 0, 3)},
        host=dict.fromkeys(DISPATCHES, (0, 0, 1)),
        computation=60,
        memory=30,
    )
    relations = work_of(opr)
    query = "SELECT count(*), sum(flops), sum(bytes), count(DISTINCT op_id) FROM op_work"
    assert relations.sql(query).fetchall() == [(1, 60, 30, 1)]
    query = "SELECT device, worked_ops, flops, bytes, device_ns FROM step_work ORDER BY device"
    assert relations.sql(query).fetchall() == [
        (0, 0, None, None, 2_000_000_000),
        (1, 1, 60, 30, 3_000_000_000),
    ]
    query = "SELECT device, flops, work_ns, round(1e12 * tflop_per_s, 6) FROM op_efficiency"
    assert relations.sql(query).fetchall() == [(1, 60, 3_000_000_000, 20)]


def test_without_a_device_work_is_on_the_host() -> None:
    opr = Opr("1", host={THREAD: (0, 0, 1), OTHER: (0, 0, 1)}, computation=60, memory=30)
    relations = work_of(opr)
    query = "SELECT device, flops, bytes, work_ns, tflop_per_s FROM op_efficiency"
    assert relations.sql(query).fetchall() == [(None, 60, 30, 1_000_000_000, 60e-12)]
    query = "SELECT device, worked_ops, flops, bytes, device_ns FROM step_work"
    assert relations.sql(query).fetchall() == [(None, 1, 60, 30, 1_000_000_000)]


def test_without_times_there_is_work_but_no_rate() -> None:
    relations = work_of(Opr("1", computation=60, memory=30), Opr("2", computation=5, memory=None))
    query = "SELECT op_id, flops, bytes FROM op_work ORDER BY flops"
    assert relations.sql(query).fetchall() == [(None, 5, None), (None, 60, 30)]
    assert relations.sql("FROM op_efficiency").fetchall() == []
    assert relations.sql("FROM step_work").fetchall() == []


def test_an_operator_without_a_footprint_has_no_work() -> None:
    without = content(recorded(1, 12, 48), recorded(2, 12, 48))
    del without["profiler"]["opr_footprint"]["2"]
    relations = built(json.dumps(without))
    assert relations.sql("SELECT flops, bytes FROM op_work").fetchall() == [(12, 48)]


def test_the_type_of_an_operator_says_its_kind_and_its_first_input_the_peak() -> None:
    types = ["ConvolutionForward", "ConvolutionBackwardData", "MatrixMul", "BatchNormForward"]
    types += ["Reduce", "TypeCvt", "SoftmaxForward", "Copy", "Subtensor", "TopK"]
    oprs = [recorded(number, 12, 48, type) for number, type in enumerate(types)]
    relations = work_of(*oprs, var={"x": variable(chunk="c")})
    query = "SELECT kind, dtype FROM op_work ORDER BY op_id"
    kinds = ["convolution", "convolution", "product", "norm"]
    kinds += ["reduction", "elementwise", "softmax", "copy", "gather", "other"]
    assert relations.sql(query).fetchall() == [(kind, "float32") for kind in kinds]


def test_products_reach_a_share_of_the_peak() -> None:
    """A product of 10¹² operations and 10¹¹ bytes in 2 s, on a device with given peaks."""
    text = profile(
        recorded(0, 10**12, 10**11, "MatrixMul"), var={"x": variable(comp_node=CPU, chunk="c")}
    )
    tags: dict[str, str | None] = {"peak_float32": "1", "peak_bandwidth": "0.1"}
    relations = built(Run({"profile.json": text}, AddOptions(tags=tags)))
    query = """
        SELECT kind, precision, peak_percent, op.bandwidth_percent, mfu_percent, known_percent
        FROM op_efficiency AS op INNER JOIN run_efficiency USING (run_id)
    """
    assert relations.sql(query).fetchall() == [("product", "float32", 50, 50, 50, 100)]
