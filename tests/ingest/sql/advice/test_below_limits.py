"""Advice on operators that are far from the limits of their device."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import ingest
from ingest import AddOptions
from tests.builders.events import Event
from tests.builders.relations import Relations, Run, built
from tests.builders.work import BFLOAT16, TAGS, call
from tests.helpers.samples import Samples

SQUARE = [[1000, 1000], [1000, 1000]]  # 20 µs at the peak of bfloat16, 25 µs at 80 % of it
MM = call("aten::mm", 100, SQUARE, [BFLOAT16] * 2, 50)
ADD = call("aten::add", 1100, [[1000, 1000]] * 2, [BFLOAT16] * 2, 30)  # 6 µs at the bandwidth
HEADS = [[1, 8, 1024, 64]] * 3
QWEN, OWLV2 = "h100_qwen1.5-0.5b", "h100_owlv2"


def twice(events: list[Event]) -> list[Event]:
    """Return events, and the same ones 500 µs later."""
    later = [{**event, "ts": event["ts"] + 500, "args": {**event["args"]}} for event in events]
    for event in later:
        if "correlation" in event["args"]:
            event["args"]["correlation"] += 5_000
    return [*events, *later]


def with_tags(events: list[Event], tags: dict[str, str | None] = TAGS) -> Run:
    return Run({"trace.json": {"traceEvents": events}}, AddOptions(tags=tags))


def batched(name: str, start_us: float) -> list[Event]:
    """Return a part of an attention that runs as separate operators."""
    shapes = [[16, 512, 512]] * (1 if "softmax" in name else 2)
    return call(name, start_us, shapes, [BFLOAT16] * 2, 60)


RUNS = {
    "several": with_tags([*twice(MM), *ADD]),
    "slower device": with_tags(MM, {**TAGS, "peak_bfloat16": "40"}),
    "no limits": with_tags(MM, {}),
    "near the limits": with_tags(call("aten::mm", 100, SQUARE, [BFLOAT16] * 2, 24)),
    "a launch that takes longer": with_tags(
        call("aten::add", 100, [[100]] * 2, [BFLOAT16] * 2, 60, launch_us=70)
    ),
    "a short kernel in a call": with_tags(
        call("aten::mm", 100, SQUARE, [BFLOAT16] * 2, 60, 4, launch_us=5)
    ),
    "a copy": with_tags(
        call("aten::copy_", 100, [[100]] * 2, [BFLOAT16] * 2, 60, category="gpu_memcpy")
    ),
    "a product in float32": with_tags(call("aten::mm", 100, SQUARE, ["float"] * 2, 900)),
    "attention and a product": with_tags(
        [
            event
            for number, name in enumerate(
                ("aten::bmm", "aten::_softmax", "aten::bmm", *["aten::add"] * 8)
            )
            for event in batched(name, 100 + 200 * number)
        ]
        + call("aten::bmm", 4000, [[16, 1024, 1024]] * 2, [BFLOAT16] * 2, 5000)
    ),
    "attention in float32": with_tags(
        call("aten::scaled_dot_product_attention", 100, HEADS, ["float"] * 3, 9000)
    ),
    "no peak of the type": with_tags(
        call("aten::mm", 100, SQUARE, [BFLOAT16] * 2, 900), {"peak_bandwidth": "1"}
    ),
    "streams": with_tags(
        [
            event if event["cat"] != "kernel" else {**event, "ts": 5_000, "tid": number}
            for number in range(6)
            for event in call("aten::mm", 100 + 100 * number, SQUARE, [BFLOAT16] * 2, 900)
        ]
    ),
    "a huge size": with_tags(call("aten::mm", 100, [*SQUARE, [10**60]], [BFLOAT16] * 3, 900)),
    "attention": with_tags(
        [
            event
            for number, name in enumerate(("aten::bmm", "aten::_softmax", "aten::bmm"))
            for event in batched(name, 100 + 200 * number)
        ]
    ),
}


@pytest.fixture(scope="module")
def relations() -> Relations:
    return built(RUNS, "advice_checks")


def test_operators_with_the_same_shapes_are_added_up(relations: Relations) -> None:
    assert relations.sql(
        "SELECT op, input_dims, dtype, calls, work_ns, limited_by, roofline_ns, saved_80_ns "
        "FROM slow_ops WHERE run_id = 'several' ORDER BY op"
    ).fetchall() == [
        ("aten::add", "[[1000,1000],[1000,1000]]", "bfloat16", 1, 30_000, "memory", 6_000, 22_500),
        ("aten::mm", "[[1000,1000],[1000,1000]]", "bfloat16", 2, 100_000, "compute", 4e4, 50_000),
    ]


def test_the_advice_names_the_operator_that_could_save_the_most(relations: Relations) -> None:
    assert relations.sql(
        "SELECT bound_ns, finding FROM advice WHERE kind = 'below_limits' AND run_id = 'several'"
    ).fetchall() == [
        (
            72_500,
            "3 calls of operators took 130 µs of the whole recording. At 80% of the device's "
            "limits, that would be 57.5 µs. The most can be saved in aten::mm of 1000×1000, "
            "1000×1000 in bfloat16: 2 calls took 100 µs, at 40% of the peak.",
        )
    ]


def test_no_time_counts_that_other_advice_counts(relations: Relations) -> None:
    found = relations.sql(
        "SELECT run_id, bound_ns, unknown_reason IS NOT NULL FROM advice_checks "
        "WHERE kind = 'below_limits'"
    ).fetchall()
    assert {run: bound for run, bound, _ in found} == {
        "several": 72_500,
        "slower device": 0,  # 50 µs at the peak
        "no limits": None,
        "near the limits": 0,
        "a launch that takes longer": 0,  # small_kernels
        "a short kernel in a call": 35_000,  # without 4 µs of the short one
        "a copy": 0,  # exposed_copy
        "a product in float32": 0,  # float_matmul
        "attention": 0,  # unfused_attention
        "attention and a product": 4_798_845,  # 5 ms less 429,497 ns, 480 µs less 251,658 ns
        "attention in float32": 8_731_565,
        "no peak of the type": 0,
        "streams": 900_000,  # the busy time
        "a huge size": 875_000,
    }
    assert [run for run, _, is_unknown in found if is_unknown] == ["no limits"]


H100: dict[str, Any] = {
    "id": 0,
    "name": "NVIDIA H100 80GB HBM3",
    "totalGlobalMem": 85_000_000_000,
    "computeMajor": 9,
    "computeMinor": 0,
    "numSms": 132,
}


def shape(blocks: int) -> dict[str, Any]:
    """Return the launch of a kernel of which one block fits on a multiprocessor."""
    threads = {"grid": [blocks, 1, 1], "block": [1024, 1, 1]}
    return {"args": {**threads, "registers per thread": 64, "shared memory": 0}}


STRIDED = "void at::native::elementwise_kernel<128, 4>"
PICTURES, WEIGHTS = [8, 64, 56, 56], [64, 64, 3, 3]
SETTINGS = ["[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1"]
REMEDIES: dict[str, tuple[list[Event], list[str]]] = {
    "a product": (
        call("aten::mm", 100, [[1024, 1024]] * 2, [BFLOAT16] * 2, 900, **shape(264)),
        ["Measure other kernels"],
    ),
    "a product of few blocks": (
        call("aten::mm", 100, [[80, 1024], [1024, 1024]], [BFLOAT16] * 2, 900, **shape(33)),
        ["Give each call more work", "Measure other kernels"],
    ),
    "a product of odd sizes": (
        call("aten::mm", 100, [[1024, 1023], [1023, 1024]], [BFLOAT16] * 2, 900),
        ["Pad its sizes", "Measure other kernels"],
    ),
    "a product that memory bounds": (  # 1.25 ms at the bandwidth
        call("aten::mm", 100, [[8, 32768], [32768, 64000]], [BFLOAT16] * 2, 1_700),
        ["Use a smaller type, or a larger batch"],
    ),
    "a convolution": (
        call(
            "aten::convolution",
            100,
            [PICTURES, WEIGHTS, [], *[[]] * 6],
            [BFLOAT16, BFLOAT16, "", *["ScalarList"] * 3, "Scalar", "ScalarList", "Scalar"],
            900,
            inputs={"Concrete Inputs": ["", "", "", *SETTINGS]},
        ),
        ["Use torch.channels_last"],
    ),
    "attention": (
        call("aten::scaled_dot_product_attention", 100, HEADS, [BFLOAT16] * 3, 900),
        ["Choose another backend"],
    ),
    "an addition": (
        call("aten::add", 100, [[1000, 1000]] * 2, [BFLOAT16] * 2, 900),
        ["Fuse it with its neighbours"],
    ),
    "a strided addition": (
        call("aten::add", 100, [[1000, 1000]] * 2, [BFLOAT16] * 2, 900, kernel=STRIDED),
        ["Fuse it with its neighbours", "Make its inputs contiguous"],
    ),
    "an addition that memory bounds": (  # 716 µs at the bandwidth
        call("aten::add", 100, [[20_000, 20_000]] * 2, [BFLOAT16] * 2, 1_040),
        ["Fuse it with its neighbours", "Use a smaller type."],
    ),
}


@pytest.fixture(scope="module")
def advised() -> dict[str, tuple[str, str]]:
    """The finding and the remedy of each run of `REMEDIES`."""
    runs = {
        name: Run({"trace.json": {"traceEvents": events, "deviceProperties": [H100]}})
        for name, (events, _) in REMEDIES.items()
    }
    found = built(runs, "advice").sql(
        "SELECT run_id, finding, remedy FROM advice WHERE kind = 'below_limits'"
    )
    return {run: (finding, remedy) for run, finding, remedy in found.fetchall()}


@pytest.mark.parametrize("name", REMEDIES)
def test_the_remedy_fits_the_operator(advised: dict[str, tuple[str, str]], name: str) -> None:
    _, wanted = REMEDIES[name]
    every = {text for _, texts in REMEDIES.values() for text in texts}
    assert {text for text in every if text in advised[name][1]} == {*wanted}


def test_less_than_one_wave_is_named(advised: dict[str, tuple[str, str]]) -> None:
    waves = "Its longest kernel fills 0.25 waves, so a part of the device is empty."
    assert [name for name, (finding, _) in advised.items() if finding.endswith(waves)] == [
        "a product of few blocks"
    ]


def test_tags_that_are_edited_change_the_advice(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_text(json.dumps({"traceEvents": MM}))
    store = ingest.Store(tmp_path / "store")
    run_id = store.add(file).run_id

    def asked(relation: str) -> list[tuple[Any, ...]]:
        with ingest.connect(store.path) as connection:
            query = f"SELECT bound_ns FROM {relation} WHERE kind = 'below_limits'"
            return connection.execute(query).fetchall()

    found = []
    for tags in ({}, TAGS, {"peak_bfloat16": "80"}):
        store.edit(run_id, AddOptions(tags=dict(tags)))
        found.append(asked("advice_checks"))
        assert asked(f"advice_of_steps('{run_id}')") == found[-1]
    assert found == [[(None,)], [(25_000,)], [(18_750,)]]


@pytest.fixture(scope="module")
def real(sampled: Samples) -> duckdb.DuckDBPyConnection:
    return ingest.connect(sampled.store(QWEN, OWLV2))


@pytest.mark.parametrize("name", [QWEN, OWLV2])
def test_operators_of_real_runs_are_those_of_the_efficiency(
    real: duckdb.DuckDBPyConnection, name: str
) -> None:
    ((run_id, step),) = real.execute(
        "SELECT run_id, step FROM run_metrics WHERE run_id LIKE ? || '%'", [name]
    ).fetchall()
    found = real.execute(
        """
        SELECT count(*), sum(shape.work_ns + work.other_ns), sum(known.work_ns),
            sum(shape.saved_80_ns + work.other_ns), sum(known.saved_80_ns)
        FROM slow_ops AS shape
        INNER JOIN shape_work AS work USING (run_id, step, op, input_dims, kind, dtype, kernel)
        INNER JOIN efficiency_of_steps($1, $2, $2) AS known
            ON known.level = 'op' AND shape.op = known.name AND shape.calls = known.calls
            AND shape.input_dims = known.input_dims AND shape.dtype = known.dtype
        WHERE shape.run_id = $1 AND shape.is_median
        """,
        [run_id, step],
    ).fetchall()
    ((operators, work_ns, known_ns, saved_ns, known_saved_ns),) = found
    assert operators > 10
    assert work_ns == known_ns
    # Some calls are faster than 80 % of the roofline.
    assert saved_ns == pytest.approx(known_saved_ns, rel=0.01)
    ((attention,),) = real.execute(
        "SELECT count(*) FROM slow_ops WHERE run_id = ? AND op IN ('aten::bmm', 'aten::_softmax')",
        [run_id],
    ).fetchall()
    assert name != OWLV2 or attention == 0


def test_one_attention_leaves_other_products_in_the_advice(relations: Relations) -> None:
    """Only the calls of the attention count in `unfused_attention`, not all with their name."""
    assert relations.sql(
        "SELECT op, calls, work_ns FROM slow_ops "
        "WHERE run_id = 'attention and a product' ORDER BY op"
    ).fetchall() == [("aten::add", 8, 480_000), ("aten::bmm", 1, 5_000_000)]


def test_attention_in_float32_counts_here(relations: Relations) -> None:
    """`float_matmul` is about products and convolutions."""
    assert relations.sql(
        "SELECT op FROM slow_ops WHERE run_id = 'attention in float32'"
    ).fetchall() == [("aten::scaled_dot_product_attention",)]


def test_a_product_without_a_peak_has_no_roofline(relations: Relations) -> None:
    run = "WHERE run_id = 'no peak of the type'"
    assert relations.sql(
        f"SELECT roofline_ns, bound, saved_ns FROM op_efficiency {run}"
    ).fetchall() == [(None, None, None)]
    assert relations.sql(f"SELECT * FROM slow_ops {run}").fetchall() == []


def test_the_bound_is_no_more_than_the_busy_time(relations: Relations) -> None:
    """Kernels of several streams ran at the same time."""
    assert relations.sql(
        "SELECT bound_ns <= wall_ns FROM advice_checks "
        "WHERE run_id = 'streams' AND kind = 'below_limits'"
    ).fetchall() == [(True,)]


def test_sizes_of_any_length_are_no_error(relations: Relations) -> None:
    assert relations.sql(
        "SELECT count(*) FROM advice_checks WHERE run_id = 'a huge size'"
    ).fetchall() != [(0,)]


def test_products_in_half_precision_are_not_in_float32(relations: Relations) -> None:
    assert relations.sql(
        "SELECT bound_ns FROM advice_checks WHERE run_id = 'several' AND kind = 'float_matmul'"
    ).fetchall() == [(0,)]
