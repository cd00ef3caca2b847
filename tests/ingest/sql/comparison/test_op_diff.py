"""`alignment`, `op_diff` and the views on them: no work is lost, and none is counted twice.

Expected values of samples are sums over the raw events, computed by a separate script: durations
of the device activities launched inside each outermost cpu_op, or of the cpu_ops themselves.
"""

import gzip
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest

import ingest
from tests.builders.diff_traces import FUSED, Call, compiled, eager, trace
from tests.builders.events import Event, host, kernel
from tests.builders.relations import Relations, built, ranks
from tests.helpers.cases import check_each
from tests.helpers.samples import COMPILED, EAGER, TWO_RANKS, Samples

TRANSFORMER = "FluxTransformer2DModel"
PAIRS = [
    (EAGER, COMPILED),
    ("flux_eager_min", "flux_compile_recompile"),
    ("flux_compile_recompile", "flux_compiled_steady_bs5"),
    ("flux_eager_full", "flux_eager_min"),
    ("mi300_flux1_graph_capture", "mi300_flux1_graph_replay"),
    ("nccl_training_control", "nccl_training_test"),
    ("h100_owlv2", "mi300_owlv2"),
    ("v100_resnet50_workers0", "v100_resnet50_workers4"),
    ("flux_eager_full", "mi300_torch_compile_triton"),
    (TWO_RANKS, "two_rank_rank0"),
    ("h100_owlv2", "h100_owlv2"),
]


@pytest.fixture(scope="module")
def diffs(sampled: Samples) -> duckdb.DuckDBPyConnection:
    """A store of the pairs, and `runs`, which finds a run's id by its name."""
    connection = ingest.connect(sampled.store(*sorted({name for pair in PAIRS for name in pair})))
    connection.execute("CREATE TEMP MACRO run(n) AS (SELECT run_id FROM runs WHERE name = n)")
    return connection


def rows(connection: duckdb.DuckDBPyConnection, query: str) -> list[Any]:
    return connection.execute(query).fetchall()


def macro(name: str, base: str, other: str, rank: int | None = None) -> str:
    """Return a call of the macro. Parameters of a macro cannot be queries, so they are ids."""
    return f"{name}($base, $other, rank := {'NULL' if rank is None else rank})"


def ask(
    connection: duckdb.DuckDBPyConnection, query: str, pair: tuple[str, str]
) -> list[tuple[Any, ...]]:
    """Return the rows of a query with `$base` and `$other`, the ids of the runs of these names."""
    ids = {
        side: rows(connection, f"SELECT run('{name}')")[0][0]
        for side, name in zip(("base", "other"), pair, strict=True)
    }
    return connection.execute(query, ids).fetchall()


@pytest.mark.parametrize("pair", PAIRS, ids="->".join)
def test_each_work_item_is_in_exactly_one_group(
    diffs: duckdb.DuckDBPyConnection, pair: tuple[str, str]
) -> None:
    work_items = ask(
        diffs, "SELECT side, work_item_id FROM compared_work_items($base, $other)", pair
    )
    aligned = ask(diffs, "SELECT side, work_item_id FROM alignment($base, $other)", pair)

    assert len(work_items) == len(set(work_items)) > 0
    assert sorted(aligned) == sorted(work_items)


@pytest.mark.parametrize("macro", ["op_diff", "kernel_diff", "module_diff", "launch_diff"])
@pytest.mark.parametrize("pair", PAIRS, ids="->".join)
def test_rows_add_up_to_the_work_of_both_runs(
    diffs: duckdb.DuckDBPyConnection, pair: tuple[str, str], macro: str
) -> None:
    (sums,) = ask(
        diffs,
        f"SELECT sum(base_ns), sum(other_ns), sum(change_ns) FROM {macro}($base, $other)",
        pair,
    )
    sides = ask(
        diffs,
        "SELECT side, measure, rank, device, run_id FROM compared_runs($base, $other)",
        pair,
    )
    for side, measure, rank, device, run_id in sides:
        # What a step launches can run in the time of another step.
        ((has_device, total),) = diffs.execute(
            """
            SELECT
                measure = 'device',
                if(measure = 'device', (
                    SELECT sum(inside_ns) FROM measured_kernels AS kernel
                    WHERE kernel.run_id = metrics.run_id AND kernel.rank = metrics.rank
                    AND kernel.device = metrics.device AND kernel.is_median
                ), compute_ns + coalesce(compiled_code_ns, 0))
            FROM run_metrics AS metrics
            WHERE run_id = $1 AND rank = $2 AND ($3 IS NULL OR device = $3)
            """,
            [run_id, rank, device],
        ).fetchall()
        if has_device == (measure == "device"):  # otherwise its metrics are of the device
            assert sums[side == "other"] == total
    assert sums[2] == sums[1] - sums[0]


@pytest.mark.parametrize("pair", PAIRS, ids="->".join)
def test_launches_add_up_to_their_kernel(
    diffs: duckdb.DuckDBPyConnection, pair: tuple[str, str]
) -> None:
    columns = "name, base_calls, other_calls, base_ns, other_ns"
    kernels = ask(diffs, f"SELECT {columns} FROM kernel_diff($base, $other)", pair)
    sums = ", ".join(f"sum({column})::BIGINT" for column in columns.split(", ")[1:])
    launches = ask(diffs, f"SELECT name, {sums} FROM launch_diff($base, $other) GROUP BY 1", pair)
    assert sorted(launches) == sorted(kernels)


def dgrads_of(trace_file: Path) -> Counter[tuple[Any, ...]]:
    """Return how often step 6 of a trace launched `dgrad_engine`, by inputs, grid and block."""
    events = json.loads(gzip.decompress(trace_file.read_bytes()))["traceEvents"]
    [step] = [event for event in events if event.get("name") == "ProfilerStep#6"]
    of_id = {
        event["args"]["External id"]: event for event in events if event.get("cat") == "Operator"
    }
    launched = (event for event in events if "dgrad_engine" in event.get("name", ""))
    ops = [(event["args"], of_id[event["args"]["external id"]]) for event in launched]
    return Counter(
        (
            op["name"],
            ", ".join(f"fp32 {dims}" for dims in op["args"]["Input Dims"] if dims),
            *(tuple(kernel[size]) for size in ("grid", "block")),
        )
        for kernel, op in ops
        if step["ts"] <= op["ts"] < step["ts"] + step["dur"]
    )


def test_launches_show_the_shapes_that_became_slower(
    diffs: duckdb.DuckDBPyConnection, sampled: Samples
) -> None:
    pair = ("v100_resnet50_workers0", "v100_resnet50_workers4")
    base, other = (dgrads_of(sampled.files(run)[0]) for run in pair)
    found = ask(
        diffs,
        "SELECT op, shapes, grid, block, sum(base_calls), sum(other_calls) "
        "FROM launch_diff($base, $other) WHERE contains(name, 'dgrad_engine') GROUP BY ALL",
        pair,
    )
    expected = {key: (base[key], other[key]) for key in base | other}
    shown = {(op, shapes, *map(tuple, sizes)): (x, y) for op, shapes, *sizes, x, y in found}
    assert shown == expected
    assert (base.total(), other.total()) == (27, 30)


@pytest.mark.parametrize("side", ["base", "other"])
def test_the_longest_launch_of_each_run_is_known(
    diffs: duckdb.DuckDBPyConnection, side: str
) -> None:
    pair = ("v100_resnet50_workers0", "v100_resnet50_workers4")
    places = ask(
        diffs,
        f"""
        SELECT
            {side}_longest.start_ns IN (
                SELECT activity.start_ns FROM compared_activities($base, $other) AS activity
                WHERE side = '{side}' AND activity.name = launch.name
            )
        FROM launch_diff($base, $other) AS launch WHERE {side}_calls > 0
        """,
        pair,
    )
    assert set(places) == {(True,)}
    [(longest, expected)] = ask(
        diffs,
        f"""
        SELECT max({side}_longest.dur_ns), (
            SELECT max(dur_ns) FROM kernels
            WHERE run_id = ${side} AND event_id IN (
                SELECT event_id FROM compared_activities($base, $other) WHERE side = '{side}'
            )
        )
        FROM launch_diff($base, $other)
        """,
        pair,
    )
    assert longest == expected


@pytest.fixture(scope="module")
def flux_by_name(diffs: duckdb.DuckDBPyConnection) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of `op_diff` for FLUX by name: replaced operators, times and evidence."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    query = "SELECT name, base_ops, base_ns, other_ns, evidence FROM op_diff($base, $other)"
    for name, *row in ask(diffs, query, TestCompiledFlux.PAIR):
        found.setdefault(name, []).append(tuple(row))
    return found


class TestCompiledFlux:
    """A FLUX transformer, eager and compiled with provenance: the shorter of its two calls."""

    PAIR = (EAGER, COMPILED)

    def test_each_eager_op_of_the_transformer_is_in_one_row_with_a_kernel(
        self, diffs: duckdb.DuckDBPyConnection
    ) -> None:
        inside = ask(
            diffs,
            f"""
            SELECT aligned.evidence, count(DISTINCT aligned.work_item_id),
                sum(work_items.ns)::BIGINT, bool_and(aligned.group_id IN (
                    SELECT group_id FROM alignment($base, $other) WHERE side = 'other'
                ))
            FROM alignment($base, $other) AS aligned
            INNER JOIN compared_work_items($base, $other) AS work_items USING (side, work_item_id)
            WHERE side = 'base' AND work_items.module LIKE '{TRANSFORMER}%'
            GROUP BY aligned.evidence
            """,
            self.PAIR,
        )

        # 292 outermost cpu_ops begin inside the module's second call, and take 2,867,140 ns.
        assert sum(row[1] for row in inside) == 292
        assert sum(row[2] for row in inside) == 2_867_140
        assert {row[0] for row in inside} == {"provenance", "order"}
        assert all(row[3] for row in inside)

    def test_work_without_an_eager_counterpart_belongs_to_torch_compile(
        self, diffs: duckdb.DuckDBPyConnection
    ) -> None:
        alone = ask(
            diffs,
            "SELECT status, name, other_calls, other_ns FROM op_diff($base, $other) "
            "WHERE status LIKE 'only_%' ORDER BY name",
            self.PAIR,
        )

        assert alone == [
            ("only_other", "AOTDispatcher Runtime Wrapper Prologue", 1, 6_820),
            ("only_other", "Pregraph bytecode", 1, 16_655),
            ("only_other", "compiled code", 1, alone[2][3]),
        ]

    # Checked by hand against the source that the trace names: diffusers 0.35's FLUX.
    @pytest.mark.parametrize(
        ("kernel", "replaced", "base_ns", "other_ns"),
        [
            # FeedForward of the image stream: the projection is a separate addmm.
            ("cpp_fused_gelu_view_14", {"gelu": 1, "dropout": 1}, None, 3_055),
            # FeedForward of the text stream.
            ("cpp_fused_gelu_view_15", {"gelu": 1, "dropout": 1}, None, 9_875),
            # conditioning = timesteps + guidance + pooled text; SiLU of norm1 and norm1_context.
            ("cpp_fused_add_silu_3", {"add": 2, "silu": 2, "to": 2}, None, 110),
            # attn_mlp: gelu of the MLP next to the attention, concatenated.
            (
                "cpp_fused_cat_gelu_permute_view_19",
                {"gelu": 1, "permute": 1, "flatten": 1, "to": 1, "cat": 1},
                None,
                32_448,
            ),
            # AdaLayerNormZero: norm(x) * (1 + scale[:, None]) + shift[:, None].
            (
                "cpp_fused_add_mul_native_layer_norm_split_unsqueeze_view_5",
                {"chunk": 1, "layer_norm": 1, "unsqueeze": 2, "add": 2, "mul": 1},
                None,
                1_723,
            ),
            # Attention out, split back into text and image.
            (
                "cpp_fused_clone_permute_split_with_sizes_view_11",
                {"permute": 1, "flatten": 1, "to": 1, "split_with_sizes": 1, "contiguous": 1},
                None,
                1_001,
            ),
            # Rotary embedding of query and of key: pairs, one negated, stacked.
            (
                "cpp_fused_add_mean_mul_neg_pow_rsqrt_stack_unbind_view_17",
                {"unflatten": 2, "rms_norm": 2, "unsqueeze": 8, "to": 4, "reshape": 2, "unbind": 2,
                 "neg": 2, "stack": 2},
                None,
                6_700,
            ),
            # The attention itself is not a fused kernel, but one of ATen's.
            (
                "aten::_scaled_dot_product_flash_attention_for_cpu",
                {"scaled_dot_product_attention": 2},
                177_735,
                65_058,
            ),
            # get_timestep_embedding of the guidance; timestep * 1000 is outside of it.
            (
                "cpp_fused_arange_cat_cos_div_exp_mul_sin_slice_unsqueeze_2",
                {"mul": 4, "arange": 1, "div": 1, "exp": 1, "unsqueeze": 2, "to": 1, "sin": 1,
                 "cos": 1, "cat": 2, "slice": 2},
                None,
                571,
            ),
            # SiLU between the linears of three embedders: time, guidance, text.
            ("cpp_fused_silu_1", {"silu": 3}, None, 300),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )  # fmt: skip
    def test_fused_kernels_are_aligned_with_the_operators_they_replaced(
        self,
        flux_by_name: dict[str, list[tuple[Any, ...]]],
        kernel: str,
        replaced: dict[str, int],
        base_ns: int | None,
        other_ns: int,
    ) -> None:
        found = flux_by_name[kernel]
        counts: dict[str, float] = {}
        for ops, *_ in found:
            for op in ops:
                name = op["name"].removeprefix("aten::")
                counts[name] = counts.get(name, 0) + op["calls"]

        assert counts == replaced
        assert sum(row[2] for row in found) == other_ns
        if base_ns:
            assert sum(row[1] for row in found) == base_ns
        assert {row[3] for row in found} == {"provenance"}

    def test_linears_are_aligned_with_the_addmm_of_the_same_line(
        self, diffs: duckdb.DuckDBPyConnection
    ) -> None:
        found = ask(
            diffs,
            """
            SELECT host_frame, base_ops[1].name, other_ops[1].name, base_calls, other_calls
            FROM op_diff($base, $other)
            WHERE name = 'aten::addmm' AND host_frame LIKE '%_get_projections'
            """,
            self.PAIR,
        )

        # 3 projections each of image and of text in the double block, 3 in the single one.
        assert [row[0].split("/")[-1] for row in found] == [
            "transformer_flux.py(46): _get_projections"
        ] * len(found)
        assert {row[1:3] for row in found} == {("aten::linear", "aten::addmm")}
        assert sum(row[3] for row in found) == sum(row[4] for row in found) == 9

    def test_swapping_the_runs_aligns_the_same_work(self, diffs: duckdb.DuckDBPyConnection) -> None:
        query = "SELECT {0}_ns, {1}_ns, {0}_calls, {1}_calls FROM op_diff(${0}, ${1}) ORDER BY ALL"
        there = ask(diffs, query.format("base", "other"), self.PAIR)
        back = diffs.execute(
            "SELECT other_ns, base_ns, other_calls, base_calls "
            "FROM op_diff($other, $base) ORDER BY ALL",
            {
                "base": rows(diffs, f"SELECT run('{self.PAIR[0]}')")[0][0],
                "other": rows(diffs, f"SELECT run('{self.PAIR[1]}')")[0][0],
            },
        ).fetchall()

        assert back == there

    def test_a_fused_kernel_lists_the_ops_that_are_counted_under_it(
        self, diffs: duckdb.DuckDBPyConnection
    ) -> None:
        found = rows(
            diffs,
            "SELECT kernel, ops, evidence, calls, host_ns FROM kernel_fusions "
            "WHERE run_id = run('flux_compiled_b2') AND kernel IN "
            "('cpp_fused_gelu_view_14', 'cpp_fused_add_silu_3') ORDER BY kernel",
        )

        silu, gelu = "torch.nn.functional.silu", "torch._C._nn.gelu"
        dropout = "torch.nn.functional.dropout"
        assert found == [
            ("cpp_fused_add_silu_3", ["operator.add"] * 2 + [silu] * 2, "provenance", 2, 411),
            ("cpp_fused_gelu_view_14", [gelu, dropout], "provenance", 2, 6490),
        ]


# Each outermost op with its shapes, and its calls and ns in the median step of each trace.
BY_HAND = [
    ("h100_owlv2", "mi300_owlv2", "source", [
        ("aten::softmax", "[[16,5185,5185],[],[]]", (120, 262422467), (120, 153698475)),
        ("aten::bmm", "[[16,5185,64],[16,64,5185]]", (120, 130015700), (120, 40460247)),
        ("aten::bmm", "[[16,5185,5185],[16,5185,64]]", (120, 99311410), (120, 55056329)),
        ("aten::linear", "[[1,5185,4096],[1024,4096],[1024]]",
         (120, 7882349), (120, 12190583)),
        ("aten::mul", "[[1,5185,4096],[1,5185,4096]]", (120, 5223730), (120, 4463738)),
    ]),
    ("v100_resnet50_workers0", "v100_resnet50_workers4", "shapes", [
        ("CudnnConvolutionBackward", "[[32,256,14,14]]", (11, 8052000), (11, 7966000)),
        ("CudnnConvolutionBackward", "[[32,128,28,28]]", (7, 5791000), (7, 6284000)),
        ("CudnnConvolutionBackward", "[[32,2048,7,7]]", (4, 3743000), (4, 3764000)),
        ("CudnnConvolutionBackward", "[[32,1024,14,14]]",
         (7, 6157000), (7, 5989000)),
        ("aten::to", "[[32,3,224,224],[],[],[],[],[],[],[]]",
         (1, 1946000), (1, 2947000)),
    ]),
    ("nccl_training_control", "nccl_training_test", "shapes", [
        ("torch::autograd::AccumulateGrad", "[[96]]", (1, 2526000), (1, 12635000)),
        ("All2All_Pooled_WaitBackward", "[[1024,70904]]", (1, 4034000), (1, 10624000)),
        ("c10d::allreduce_", "[[],[],[],[]]", (2, 2436000), (2, 1033000)),
        ("aten::cat", "[[],[]]", (14, 1806000), (3, 1639000)),
    ]),
    ("mi300_flux1_graph_capture", "mi300_flux1_graph_replay", "source", [
        ("aten::linear", "[[1,512,4096],[10240,4096],[]]", (48, 4945349), (48, 5041526)),
        ("aten::linear", "[[1,512,4096],[4096,4096],[]]", (96, 4828246), (96, 4815617)),
        ("aten::linear", "[[1,512,10240],[4096,10240],[]]", (24, 2708361), (24, 2715455)),
        ("aten::softmax", "[[1,64,512,512],[],[]]", (24, 845954), (24, 860336)),
        ("aten::add_", "[[1,64,512,512],[1,64,512,512],[]]",
         (24, 2270754), (24, 2289579)),
    ]),
    ("flux_compile_recompile", "flux_compiled_steady_bs5", "shapes", [
        ("aten::linear", "[[5,77,32],[32,32],[32]]", (16, 502068), (8, 47715517)),
        ("aten::layer_norm", "[[5,77,32],[],[32],[32],[],[]]", (10, 2982027), (5, 22718213)),
        ("aten::conv2d", "[[5,16,16,16],[16,16,3,3],[16],[],[],[],[]]",
         (16, 15087982), (8, 4793180)),
        ("aten::addmm", "[[32],[320,32],[32,32],[],[],[320,32]]", (16, 328529), (8, 4165492)),
        ("aten::_scaled_dot_product_flash_attention_for_cpu",
         "[[5,2,80,16],[5,2,80,16],[5,2,80,16],[],[],[],[]]", (8, 1492406), (4, 557793)),
    ]),
    # The first trace has two calls of `transformer_forward`: this is the shorter one.
    ("flux_eager_min", "flux_compile_recompile", "name", [
        ("aten::linear", None, (50, 353996259), (140, 877500200)),
        ("aten::layer_norm", None, (11, 105089011), (25, 108949367)),
        ("aten::scaled_dot_product_attention", None, (4, 41835446), (25, 85514464)),
        ("aten::add", None, (42, 659481), (150, 1228982)),
        ("aten::mul", None, (48, 545188), (100, 705073)),
    ]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("base", "other", "evidence", "expected"), BY_HAND, ids=lambda value: str(value)[:20]
)
def test_rows_checked_by_hand(
    diffs: duckdb.DuckDBPyConnection,
    base: str,
    other: str,
    evidence: str,
    expected: list[Any],
) -> None:
    rows_of_pair = "CREATE OR REPLACE TEMP TABLE diff AS FROM op_diff($base, $other)"
    ask(diffs, rows_of_pair, (base, other))
    for name, shapes, in_base, in_other in expected:
        found = rows(
            diffs,
            f"""
            WITH ops AS (
                SELECT evidence, unnest(base_ops) AS op, 'base' AS side FROM diff
                UNION ALL
                SELECT evidence, unnest(other_ops) AS op, 'other' AS side FROM diff
            )

            SELECT side, sum(op.calls), sum(op.ns), any_value(evidence)
            FROM ops
            WHERE op.name = '{name}' AND {f"op.shapes = '{shapes}'" if shapes else "TRUE"}
            GROUP BY side
            ORDER BY side
            """,
        )
        assert [row[0] for row in found] == ["base", "other"], name
        for row, (calls, ns) in zip(found, (in_base, in_other), strict=True):
            assert row[1:3] == (calls, ns), (name, shapes)
            assert row[3] == evidence, (name, shapes)


def test_without_stacks_and_shapes_names_are_the_evidence(
    diffs: duckdb.DuckDBPyConnection,
) -> None:
    found = ask(
        diffs,
        "SELECT name, evidence FROM op_diff($base, $other) WHERE base_ns > 0 AND other_ns > 0",
        ("flux_eager_min", "flux_compile_recompile"),
    )

    assert {row[1] for row in found} == {"name"}
    assert {"aten::linear", "aten::layer_norm", "aten::mul"} <= {row[0] for row in found}


def test_batches_of_only_one_run_have_separate_rows(
    diffs: duckdb.DuckDBPyConnection,
) -> None:
    found = ask(
        diffs,
        """
        SELECT status, evidence, base_calls, other_calls, base_ns, other_ns, of_calls_ns, of_time_ns
        FROM op_diff($base, $other)
        WHERE coalesce(other_ops, base_ops)[1].name = 'aten::linear'
            AND coalesce(other_ops, base_ops)[1].shapes IN ('[[5,77,32],[32,32],[32]]')
        """,
        ("flux_compile_recompile", "flux_compiled_steady_bs5"),
    )

    ((status, evidence, base_calls, other_calls, base_ns, other_ns, of_calls, of_time),) = found
    assert (evidence, base_calls, other_calls, other_ns) == ("shapes", 16, 8, 47_715_517)
    assert status == "fewer_calls"  # 45.5 ms in 16 calls there
    assert of_calls == pytest.approx(-base_ns / 2)
    assert of_calls + of_time == pytest.approx(other_ns - base_ns)


@pytest.mark.parametrize(
    "macro", ["run_diff", "op_diff", "kernel_diff", "module_diff", "launch_diff"]
)
def test_nothing_is_compared_with_an_unknown_run(
    diffs: duckdb.DuckDBPyConnection, macro: str
) -> None:
    [run] = rows(diffs, f"SELECT run('{EAGER}')")[0]
    for pair in ((run, EAGER), ("nope", run)):
        assert diffs.execute(f"FROM {macro}($1, $2)", pair).fetchall() == []


def steps(*spans: tuple[int, int]) -> list[Event]:
    """Return steps numbered from 0, each with its start and its length."""
    return [
        host(f"ProfilerStep#{number}", "user_annotation", *span)
        for number, span in enumerate(spans)
    ]


CALL = ("## Call CompiledFxGraph x ##", "cpu_op", 10, 80)
HOST_WORK: dict[str, tuple[list[Event], dict[str, tuple[int, int]]]] = {
    "operators and calls that reach into an inner step": (
        [
            *steps((0, 100), (20, 30), (100, 200)),
            host("aten::mm", "cpu_op", 5, 20),  # runs 15 µs before the inner step
            host("## Call CompiledFxGraph x ##", "cpu_op", 40, 50),  # runs 40 µs after it
            host("aten::add", "cpu_op", 42, 18),  # inside the call; runs 10 µs after the inner step
        ],
        {"aten::add": (1, 10), "aten::mm": (1, 15), "compiled code": (1, 30)},
    ),
    "an inner step before the first operator of a step": (
        [
            *steps((0, 100), (10, 5), (100, 200)),
            host("aten::mul", "cpu_op", -5, 30),
            host("aten::mm", "cpu_op", 30, 40),
        ],
        {"aten::mul": (1, 10 + 10), "aten::mm": (1, 40)},
    ),
    "an operator without length is in one step": (
        [
            *steps((0, 100), (100, 200)),
            host("aten::mm", "cpu_op", 5, 95),
            host("aten::view", "cpu_op", 100, 0),
        ],
        {"aten::mm": (1, 95)},
    ),
    "an annotation in a call is not an operator": (
        [
            *steps((0, 100), (100, 200)),
            host(*CALL),
            host("mine", "user_annotation", 20, 30),
            host("aten::add", "cpu_op", 25, 10),
        ],
        {"aten::add": (1, 10), "compiled code": (1, 70)},
    ),
    "a call in a call": (
        [
            *steps((0, 100), (100, 200)),
            host(*CALL),
            host("CompiledFxGraph y", "cpu_op", 20, 30),
            host("aten::add", "cpu_op", 25, 10),
        ],
        {"aten::add": (1, 10), "compiled code": (1, 70)},
    ),
    "operators on other threads": (
        [
            *steps((0, 100), (100, 200)),
            host(*CALL),
            host("aten::add", "cpu_op", 20, 30, tid=2),
            host("aten::mul", "cpu_op", 40, 20, tid=3),
        ],
        {"aten::add": (1, 30), "aten::mul": (1, 20), "compiled code": (1, 40)},
    ),
}


def repeated(times: int) -> list[Event]:
    """Return a step with equal calls."""
    calls = [Call("aten::mm", (10 * n, 8), "gemm", (400 + 100 * n, 50)) for n in range(times)]
    return trace(calls, 2000, 1)


def in_one_function(*lengths: int) -> list[Event]:
    """Return two calls of one function. Their names and shapes are equal, the lengths given."""
    events = [host("net.py(3): forward", "python_function", 0, 300)]
    for number, (start, length) in enumerate(zip((10, 150), lengths, strict=True), start=1):
        events += [
            host("aten::mul", "cpu_op", start, 20, {"Input Dims": [[8], [8]]}),
            host("cudaLaunchKernel", "cuda_runtime", start + 5, 5, {"correlation": number}),
            kernel("mul", start + 12, length, correlation=number),
        ]
    return events


GRAPH_LAUNCH = host("cudaGraphLaunch", "cuda_runtime", 10, 5, {"correlation": 1})
GRAPH_OF_OPERATORS = [
    GRAPH_LAUNCH,
    kernel("gemm", 20, 10, correlation=1),
    kernel("mul_kernel", 30, 10, correlation=1),
]
GRAPH_WITH_MEMSET = [
    GRAPH_LAUNCH,
    kernel("Memset (Device)", 20, 1, "gpu_memset", correlation=1),
    kernel("gemm", 30, 10, correlation=1),
    kernel("mul", 40, 10, correlation=1),
]
MODULES = [
    host("nn.Module: Net_0", "python_function", 1, 500),
    host("nn.Module: Block_0", "python_function", 5, 60),  # mm and mul
    host("net.py(3): forward", "python_function", 6, 50),
    host("nn.Module: Block_1", "python_function", 66, 70),  # add and relu
    host("net.py(3): forward", "python_function", 67, 60),
]
# Pairs of small traces. Each pair is a rank of the runs `base` and `other`.
SMALL: dict[str, tuple[list[Event], list[Event]]] = {
    "eager and compiled": (eager(), compiled()),
    "compiled and eager": (compiled(), eager()),
    "2 and 5 steps": (eager(steps=2), compiled(steps=5)),
    "10 and 3 steps": (eager(steps=10), eager(steps=3)),
    "2 and 8 calls": (repeated(2), repeated(8)),
    "modules": (eager(1) + MODULES, eager(1) + MODULES[::-1]),
    "calls in one function": (in_one_function(50, 20), in_one_function(10, 60)),
    "operators and a graph": (eager(1), GRAPH_OF_OPERATORS),
    "a graph": (GRAPH_WITH_MEMSET, GRAPH_WITH_MEMSET[:3]),
}


@pytest.fixture(scope="module")
def small() -> Relations:
    """The runs `base` and `other`, with a rank for each pair of `SMALL`.

    The runs `host base` and `host other` have a rank for each case of `HOST_WORK`. Each rank of
    `host other` has more work.
    """
    more = host("aten::mm", "cpu_op", 290, 7)  # not in the median step
    on_host = [(events, [*events, more]) for events, _ in HOST_WORK.values()]
    return built(
        {
            f"{prefix}{name}": ranks(pair[side] for pair in pairs)
            for prefix, pairs in (("", list(SMALL.values())), ("host ", on_host))
            for side, name in enumerate(("base", "other"))
        }
    )


def id_of(connection: duckdb.DuckDBPyConnection, name: str) -> str:
    """Return the id of the run of this name."""
    [(run_id,)] = connection.execute("SELECT run_id FROM runs WHERE name = $1", [name]).fetchall()
    return str(run_id)


def of_pair(small: Relations, query: str, case: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query with `$base`, `$other` and `$rank`, those of a pair of `SMALL`."""
    parameters = {"base": "base", "other": "other", "rank": list(SMALL).index(case)}
    return small.execute(query, parameters).fetchall()


def small_op_diff(small: Relations, case: str) -> list[tuple[Any, ...]]:
    """Return what `op_diff` says about a pair of `SMALL`, with the columns of a kind together."""
    found = of_pair(
        small,
        "SELECT status, name, evidence, base_calls, other_calls, base_kernels, other_kernels, "
        "base_launches, other_launches, base_ns, other_ns "
        "FROM op_diff($base, $other, rank := $rank) ORDER BY ALL",
        case,
    )
    return [(*row[:3], row[3:5], row[5:7], row[7:9], row[9:]) for row in found]


def test_the_work_of_a_step_on_a_host(small: Relations) -> None:
    """The first step is the median step; the times are µs."""

    def check(case: str) -> None:
        rank, expected = list(HOST_WORK).index(case), HOST_WORK[case][1]
        [(step, total)] = small.execute(
            "SELECT step, compute_ns + coalesce(compiled_code_ns, 0) FROM run_metrics "
            "WHERE run_id = $1 AND rank = $2",
            ["host base", rank],
        ).fetchall()
        for macro in ("op_diff", "kernel_diff"):
            found = small.execute(
                f"SELECT name, base_calls, base_ns, other_ns FROM {macro}($1, $2, rank := {rank})",
                ["host base", "host other"],
            ).fetchall()
            assert {name: (calls, ns // 1000) for name, calls, ns, _ in found} == expected, macro
            assert (step, total) == (0, sum(ns for _, _, ns, _ in found)), macro
            assert all(ns == other_ns for _, _, ns, other_ns in found), macro

    check_each(HOST_WORK, check)


def test_a_row_called_more_often_is_not_slower(small: Relations) -> None:
    assert of_pair(
        small,
        "SELECT status, change_ns, of_calls_ns, of_time_ns, percent "
        "FROM op_diff($base, $other, rank := $rank)",
        "2 and 8 calls",
    ) == [("more_calls", 300_000, 300_000, 0, 300)]


def test_the_launch_of_a_graph_counts_with_its_first_kernel(
    small: Relations,
) -> None:
    found = of_pair(
        small,
        "SELECT name, base_launches FROM op_diff($base, $other, rank := $rank)",
        "a graph",
    )
    assert dict(found) == {"(graph) Memset (Device)": 0, "(graph) gemm": 1, "(graph) mul": 0}


@pytest.mark.parametrize("macro", ["op_diff", "kernel_diff", "alignment"])
@pytest.mark.parametrize("pair", [PAIRS[0], PAIRS[5]], ids="->".join)
def test_the_answer_does_not_depend_on_threads(
    diffs: duckdb.DuckDBPyConnection, pair: tuple[str, str], macro: str
) -> None:
    answers = set()
    for threads in (1, 8, 3):
        diffs.execute(f"SET threads = {threads}")
        answers.add(repr(sorted(ask(diffs, f"FROM {macro}($base, $other)", pair), key=repr)))

    assert len(answers) == 1


def test_a_compiled_run_is_the_same_as_itself(diffs: duckdb.DuckDBPyConnection) -> None:
    found = ask(
        diffs,
        "SELECT status, sum(base_ns - other_ns), bool_and(base_calls = other_calls) "
        "FROM op_diff($base, $other) GROUP BY status",
        ("flux_compiled_b2", "flux_compiled_b2"),
    )

    assert found == [("same", 0, True)]


def test_ranks_with_compile_logs_are_kept_apart(
    sampled: Samples, store: ingest.Store, tmp_path: Path
) -> None:
    """Rank 1 is a copy of rank 0 with another file name in its log; the rows do not change."""
    run = tmp_path / "two"
    run.mkdir()
    for path in sampled.files(COMPILED):
        shutil.copy(path, run)
        text = gzip.decompress(path.read_bytes())
        if b"traceEvents" in text:
            text = text.replace(b"{", b'{"distributedInfo": {"rank": 1}, ', 1)
        else:
            text = text.replace(b"pair.py", b"PAIR.py")
        (run / path.name.replace("rank0", "rank1")).write_bytes(gzip.compress(text))
    store.add(run)
    sampled.add(store, EAGER)
    with ingest.connect(store.path) as connection:
        eager_run, both = id_of(connection, EAGER), id_of(connection, "two")
        answers = [
            connection.execute(
                f"SELECT * EXCLUDE (row_id, group_ids) FROM op_diff($1, $2, rank := {side}) "
                "ORDER BY ALL",
                runs,
            ).fetchall()
            for runs, side in [([eager_run, both], 0), ([eager_run, both], "NULL")]
        ]
        doubled = connection.execute(
            "SELECT rank, kernel, calls, len(ops) FROM kernel_fusions "
            "WHERE kernel IN ('cpp_fused_silu_1', 'cpp_fused_gelu_view_14') ORDER BY ALL"
        ).fetchall()

    assert answers[0] == answers[1]
    assert sum(row[0] == "fused" for row in answers[0]) == 18
    assert doubled == [
        (rank, kernel, calls, ops)
        for rank in (0, 1)
        for kernel, calls, ops in [("cpp_fused_gelu_view_14", 2, 2), ("cpp_fused_silu_1", 6, 1)]
    ]


class TestSyntheticPair:
    """Three ops fused into one, one bubble removed, one op slower: `diff_traces`."""

    def test_is_reported_exactly(self, small: Relations) -> None:
        assert small_op_diff(small, "eager and compiled") == [
            # status, name, evidence, calls, kernels, launches, ns of either side
            ("fused", FUSED, "fusion", (3, 1), (3, 1), (3, 1), (30_000, 14_000)),
            ("same", "aten::mm", "shapes", (1, 1), (1, 1), (1, 1), (100_000, 100_000)),
            ("same", "aten::softmax", "shapes", (1, 1), (1, 1), (1, 1), (50_000, 50_000)),
            ("slower", "aten::sum", "shapes", (1, 1), (1, 1), (1, 1), (20_000, 30_000)),
        ]
        ((replaced,),) = of_pair(
            small,
            "SELECT list_transform(base_ops, LAMBDA op: op.name) "
            "FROM op_diff($base, $other, rank := $rank) WHERE status = 'fused'",
            "eager and compiled",
        )
        assert replaced == ["aten::mul", "aten::add", "aten::relu"]

    def test_with_swapped_runs_the_fused_kernel_belongs_to_the_first(
        self, small: Relations
    ) -> None:
        fused = ("fused", FUSED, "fusion", (1, 3), (1, 3), (1, 3), (14_000, 30_000))
        assert fused in small_op_diff(small, "compiled and eager")

    def test_metrics_are_per_step_whatever_the_number_of_steps(self, small: Relations) -> None:
        assert [row[6] for row in small_op_diff(small, "2 and 5 steps")] == [
            (30_000, 14_000), (100_000, 100_000), (50_000, 50_000), (20_000, 30_000),
        ]  # fmt: skip

    def test_equal_calls_are_the_same_whatever_the_number_of_steps(self, small: Relations) -> None:
        assert {row[0] for row in small_op_diff(small, "10 and 3 steps")} == {"same"}

    def test_classes_of_modules_add_up_inside_out(self, small: Relations) -> None:
        found = of_pair(
            small,
            "SELECT module, parent, whole_base_calls, whole_base_ns, base_ns "
            "FROM module_diff($base, $other, rank := $rank) ORDER BY module",
            "modules",
        )
        assert found == [
            ("Net", None, 6, 200_000, 70_000),
            ("Net/Block", "Net", 4, 130_000, 130_000),
        ]


def test_calls_of_a_function_are_aligned_by_their_position_in_it(
    small: Relations,
) -> None:
    """Two `mul` of one function stay apart."""
    found = small_op_diff(small, "calls in one function")
    assert [row[:3] + row[6:] for row in found] == [
        ("faster", "aten::mul", "source", (50_000, 10_000)),
        ("slower", "aten::mul", "source", (20_000, 60_000)),
    ]


def test_kernels_of_a_graph_are_aligned_with_operators_that_launched_them(
    small: Relations,
) -> None:
    found = {row[1]: row for row in small_op_diff(small, "operators and a graph")}
    assert found["(graph) gemm"] == (
        "faster", "(graph) gemm", "kernel", (1, 1), (1, 1), (1, 1), (100_000, 10_000),
    )  # fmt: skip
    assert found["(graph) mul_kernel"][4:6] == ((1, 1), (1, 0))  # the graph was launched once
