"""How close stages of pipelines come to the limits: small calls, on a device and on a host."""

import pytest

from ingest import AddOptions
from tests.builders.events import Event, kernel, op
from tests.builders.pipelines import mark
from tests.builders.relations import Relations, Run, built
from tests.ingest.sql.limits.test_efficiency import BFLOAT16, BYTES, FLOPS, SQUARE, TAGS, call

# A product of 20 µs at the peak, in each stage. The work in `encode` is outside of all steps.
ADD = {"shapes": [[1000, 1000]] * 2, "types": [BFLOAT16] * 2}
MARKS = [
    mark("pipeline: Flux", 0, 1000),
    mark("stage: encode", 10, 200),
    mark("stage: denoise", 300, 400),
    mark("ProfilerStep#0", 301, 199),
    mark("block: Double", 310, 90),
    mark("ProfilerStep#1", 500, 200),
    mark("stage: decode", 800, 190),
]
WORK = [
    *call("aten::mm", 20, SQUARE, [BFLOAT16] * 2, 40),
    *call("aten::mm", 320, SQUARE, [BFLOAT16] * 2, 30),
    *call("aten::mm", 420, SQUARE, [BFLOAT16] * 2, 25),
    *call("aten::add", 520, ADD["shapes"], ADD["types"], 8),
    *call("aten::no_formula", 820, [[4]], [BFLOAT16], 10),
]


def of(events: list[Event]) -> Relations:
    return built(Run({"trace.json": {"traceEvents": events}}, AddOptions(tags=TAGS)))


@pytest.fixture(scope="module")
def relations() -> Relations:
    return of([*MARKS, *WORK])


def test_each_stage_has_its_work_and_what_it_reaches(relations: Relations) -> None:
    rows = relations.sql(
        "SELECT level, stage, block_class, flops, bytes, known_percent, unknown_reason, "
        "mfu_percent * wall_ns / 100, tflop_per_s * wall_ns * 1e3, tb_per_s * wall_ns * 1e3, "
        "bandwidth_percent * wall_ns / 100 FROM stage_efficiency "
        "ORDER BY ordinal, level DESC, block_class NULLS LAST"
    ).fetchall()
    add = 1000 * 1000
    product = (FLOPS, BYTES, 100, None, 20_000, FLOPS, BYTES, 6_000)
    denoise = (2 * FLOPS + add, 3 * BYTES, 100, None, 40_000, 2 * FLOPS + add, 3 * BYTES, 18_000)
    outside = (FLOPS + add, 2 * BYTES, 100, None, 20_000, FLOPS + add, 2 * BYTES, 12_000)
    whole = (3 * FLOPS + add, 4 * BYTES)
    assert rows == [
        pytest.approx(row)
        for row in [
            ("call", None, None, *whole, 100 * 103 / 113, None, 60_000, *whole, 24_000),
            ("stage", "encode", None, *product),
            ("stage", "denoise", None, *denoise),
            ("block", "denoise", "Double", *product),
            ("block", "denoise", None, *outside),
            ("stage", "decode", None, None, None, 0, "no_work", *[None] * 4),
            ("stage", "other", None, *[None] * 3, "no_work", *[None] * 4),
        ]
    ]


@pytest.mark.parametrize(
    ("bounds", "stage", "expected"),
    [
        ("NULL, NULL", "NULL", {"aten::mm": 2, "aten::add": 1}),  # the measured steps
        ("NULL, NULL", "'encode'", {"aten::mm": 1}),
        ("NULL, NULL", "'denoise'", {"aten::mm": 2, "aten::add": 1}),
        ("1, 1", "'denoise'", {"aten::add": 1}),
        ("1, 1", "'encode'", {}),
        ("NULL, NULL", "'decode'", {}),
    ],
)
def test_efficiency_can_be_restricted_to_a_stage(
    relations: Relations, bounds: str, stage: str, expected: dict[str, int]
) -> None:
    found = relations.sql(
        "SELECT name, sum(calls) FROM efficiency_of_steps"
        f"('run', {bounds}, of_stage := {stage}) WHERE level = 'op' GROUP BY name"
    ).fetchall()
    assert dict(found) == expected


def test_the_work_of_stages_is_that_of_their_operators(relations: Relations) -> None:
    """Sums of `step_work`, which the stages have, and of `op_efficiency` by stage agree."""
    (by_op, by_stage) = (
        relations.sql(
            f"SELECT stage, block_class, sum(flops), sum(bytes), sum({ns}) FROM {relation} "
            "WHERE flops IS NOT NULL GROUP BY ALL ORDER BY ALL"
        ).fetchall()
        for relation, ns in (("op_efficiency", "work_ns"), ("step_work", "flops_ns"))
    )
    assert by_op == by_stage


def test_a_host_has_the_work_of_its_operators_in_each_stage() -> None:
    shapes = {"Input Dims": SQUARE, "Input type": [BFLOAT16] * 2}
    events = [*MARKS, op("aten::mm", 20, 50, args=shapes), op("aten::mm", 320, 20, args=shapes)]
    rows = (
        of([*events, op("aten::no_formula", 350, 20)])
        .sql(
            "SELECT stage, flops, known_percent, mfu_percent * wall_ns / 100 "
            "FROM stage_efficiency WHERE level = 'stage' ORDER BY ordinal"
        )
        .fetchall()
    )
    assert rows == [
        pytest.approx(row)
        for row in [
            ("encode", FLOPS, 100, 20_000),
            ("denoise", FLOPS, 50, 20_000),
            ("decode", None, None, None),
            ("other", None, None, None),
        ]
    ]


def test_all_work_of_a_stage_is_known_if_operators_of_its_host_overlap() -> None:
    """Two threads compute for 100 µs each, and for 50 µs at the same time."""
    shapes = {"Input Dims": SQUARE, "Input type": [BFLOAT16] * 2}
    events = [op("aten::mm", 20 + 50 * n, 100, tid=1 + n, args=shapes) for n in range(2)]
    found = of([*MARKS, *events]).sql(
        "SELECT flops, known_percent, is_lower_bound FROM stage_efficiency WHERE stage = 'encode'"
    )
    assert found.fetchall() == [(2 * FLOPS, 100, False)]


def test_communication_is_neither_known_nor_unknown_work() -> None:
    events = [*MARKS, *WORK[:3], op("ncclSend", 30, 1, cat="cuda_runtime", args={"correlation": 7})]
    events += [kernel("ncclDevKernel_AllReduce", 200, 50, correlation=7)]
    found = of(events).sql(
        "SELECT flops, known_percent FROM stage_efficiency WHERE stage = 'encode'"
    )
    assert found.fetchall() == [(FLOPS, 100)]
