"""The metrics of runs, compared with plain Python on every sample and checked on small traces."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ingest
from tests.builders import diff_traces
from tests.builders.diff_traces import Call
from tests.builders.events import Event, host
from tests.conftest import Traces
from tests.ingest.sql.runs import metrics_in_python
from tests.samples import COMPILED, EAGER, TWO_RANKS, Samples

FLUX = "nn.Module: FluxTransformer2DModel_0"
SAMPLES = {  # number of steps, how they are found, their name: read from the traces
    "alexnet_cuda_sync": (1, "run", None),
    "b200_gptoss": (1, "run", None),
    "cpu_only": (1, "ProfilerStep", "ProfilerStep"),
    "cupti_counters": (1, "run", None),
    "flux_compile_recompile": (1, "run", None),
    f"{COMPILED}-rank0": (2, "module", "nn.Module: OptimizedModule_0"),
    "flux_compiled_steady_bs5": (1, "run", None),
    EAGER: (2, "module", FLUX),
    "flux_eager_full": (2, "annotation", "transformer_forward"),
    "flux_eager_min": (2, "annotation", "transformer_forward"),
    "h100_owlv2": (1, "ProfilerStep", "ProfilerStep"),
    "h100_qwen1.5-0.5b": (1, "ProfilerStep", "ProfilerStep"),
    "mi210_gpu_only": (1, "run", None),
    "mi300_flux1_graph_capture": (1, "run", None),
    "mi300_flux1_graph_replay": (1, "ProfilerStep", "ProfilerStep"),
    "mi300_owlv2": (1, "ProfilerStep", "ProfilerStep"),
    "mi300_resnet_ddp_rank0": (3, "ProfilerStep", "ProfilerStep"),
    "mi300_torch_compile_triton": (1, "run", None),
    "misc_backward_threads": (1, "run", None),
    "mtia_inference": (1, "run", None),  # tasks of several threads, at the same time
    "nccl_training_control": (6, "ProfilerStep", "ProfilerStep"),
    "nccl_training_test": (6, "ProfilerStep", "ProfilerStep"),
    "two_rank_rank0": (2, "ProfilerStep", "ProfilerStep"),
    "two_rank_rank1": (2, "ProfilerStep", "ProfilerStep"),
    "v100_resnet50_workers0": (6, "ProfilerStep", "ProfilerStep"),
    "v100_resnet50_workers4": (6, "ProfilerStep", "ProfilerStep"),
}


@pytest.fixture(scope="session")
def compared(sampled: Samples) -> Path:
    """A store with the traces of `compile/`, and with two ranks as one run."""
    return sampled.store(EAGER, f"{COMPILED}-rank0", TWO_RANKS)


@pytest.fixture
def pair(compared: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to that store."""
    with ingest.connect(compared) as connection:
        yield connection


def rows(connection: duckdb.DuckDBPyConnection, query: str) -> list[dict[str, Any]]:
    """Return the rows as dictionaries by column name."""
    relation = connection.sql(query)
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


def with_causes(
    rows: list[dict[str, Any]], parts: list[dict[str, Any]], ns: str
) -> list[dict[str, Any]]:
    """Add the idle time of the row's device by cause, such as `bubble_host_ns`, to each row."""
    return [
        row
        | {
            f"bubble_{part['part']}_ns": part[ns]
            for part in parts
            if part["is_idle"]
            and all(part[key] == row[key] for key in ("run_id", "rank", "device"))
        }
        for row in rows
    ]


def adds_up(metrics: dict[str, Any]) -> None:
    """Check the sums that hold in every row, both of totals and of metrics per step."""
    f = {name: value or 0 for name, value in metrics.items()}
    assert f["wall_ns"] == f["lead_ns"] + f["span_ns"] + f["tail_ns"]
    assert f["span_ns"] == f["busy_ns"] + f["bubble_ns"]
    assert (
        f["bubble_ns"] == sum(f[name] for name in f if name.startswith("bubble_")) - f["bubble_ns"]
    )
    summed = f["compute_ns"] + f["communication_ns"] + f["copy_ns"] + f["compiled_code_ns"]
    assert f["busy_ns"] == summed - f["overlap_ns"]
    assert min(f[name] for name in ("lead_ns", "tail_ns", "bubble_ns", "overlap_ns")) >= 0


@pytest.mark.parametrize("name", SAMPLES)
def test_metrics_of_a_sample_are_exact(
    name: str, sampled: Samples, sample_store: Path, compared: Path
) -> None:
    [path] = sampled.files(name)
    store = compared if path.parent.name == "compile" else sample_store
    with ingest.connect(store) as connection:
        condition = f"WHERE run_id = (SELECT run_id FROM sources WHERE path = '{path}')"
        parts = rows(connection, f"FROM run_parts {condition}")
        found = with_causes(rows(connection, f"FROM run_totals {condition}"), parts, "total_ns")
        gaps = rows(connection, f"SELECT device, start_ns, dur_ns, cause FROM bubbles {condition}")
        summaries = with_causes(rows(connection, f"FROM run_metrics {condition}"), parts, "ns")
    named = {(f["steps"], f["steps_from"], f["step_name"]) for f in summaries}
    assert named == {SAMPLES[name]}
    expected = metrics_in_python.metrics(metrics_in_python.read(path), SAMPLES[name][2])
    assert {f["device"] for f in found} == set(expected)
    for metrics in found:
        adds_up(metrics)
        known = expected[metrics["device"]]
        outside_ns = known.pop("outside_busy_ns")
        assert {key: metrics.get(key) for key in known} == known
        [summary] = (f for f in summaries if f["device"] == metrics["device"])
        adds_up(summary)
        assert (summary["steps"], summary["measure"]) == (metrics["steps"], metrics["measure"])
        assert summary["outside_busy_ns"] == outside_ns
        assert summary["mean_wall_ns"] == metrics["wall_ns"] // metrics["steps"]
        if metrics["measure"] == "device" and summary["outside_busy_ns"] == 0:
            ours = [gap for gap in gaps if gap["device"] == metrics["device"]]
            for part in parts:
                if part["is_idle"] and part["device"] == metrics["device"]:
                    lost = [gap["dur_ns"] for gap in ours if gap["cause"] == part["part"]]
                    assert part["total_ns"] == sum(lost)


def test_every_sample_is_tested(sampled: Samples) -> None:
    names = {*sampled.names("traces"), EAGER, f"{COMPILED}-rank0"}
    assert names - {"memory_timeline.raw"} == set(SAMPLES)


def differences(
    connection: duckdb.DuckDBPyConnection, base: str, other: str, more: str = ""
) -> dict[str, dict[str, Any]]:
    """Return the rows of `run_diff` for runs of these names, by metric. Check that parts add up."""
    ids = [
        connection.execute("SELECT run_id FROM runs WHERE name = ?", [name]).fetchall()[0][0]
        for name in (base, other)
    ]
    found = rows(connection, f"FROM run_diff('{ids[0]}', '{ids[1]}'{more})")
    assert [row["ordinal"] for row in found] == list(range(1, len(found) + 1))
    by_metric = {row["metric"]: row for row in found}
    for column in ("base", "other", "change"):
        parts = [row[column] or 0 for row in found if row["is_part"]]
        assert sum(parts) == by_metric["wall"][column]
    return by_metric


def test_run_diff_matches_differences_calculated_by_hand(traces: Traces) -> None:
    traces.add(diff_traces.eager(), "eager", **diff_traces.DEVICE)
    connection = traces.add(diff_traces.compiled(), "compiled", **diff_traces.DEVICE)
    found = differences(connection, "eager", "compiled")
    parts = {
        name: (row["base"], row["other"])
        for name, row in found.items()
        if row["is_part"] and (row["base"] or row["other"])
    }
    assert parts == diff_traces.PARTS
    assert (found["wall"]["base"], found["wall"]["other"]) == diff_traces.WALL
    assert found["wall"]["percent"] == -20
    assert found["bubble_host"]["change"] == -194_000
    assert found["compute"]["change"] == -6_000
    for name, metrics in diff_traces.COUNTS.items():
        assert (found[name]["base"], found[name]["other"]) == metrics
    assert found["peak"]["base"] is None
    assert found["compiled_code"]["base"] is None


def test_a_run_does_not_differ_from_itself(pair: duckdb.DuckDBPyConnection) -> None:
    assert all(not row["change"] for row in differences(pair, EAGER, EAGER).values())


def test_eager_against_compiled(pair: duckdb.DuckDBPyConnection) -> None:
    found = differences(pair, EAGER, f"{COMPILED}-rank0")
    assert found["steps"]["base"] == found["steps"]["other"] == 2
    # Two calls of FluxTransformer2DModel take 7,766,553 and 4,142,679 ns, with 121,481 ns between
    # them. Two of OptimizedModule take 1,184,396 and 955,536 ns, with 111,396 ns between them.
    assert (found["wall"]["base"], found["wall"]["other"]) == (4_142_679, 955_536)
    assert found["min_wall"]["base"] == 4_142_679
    assert found["max_wall"]["base"] == 7_766_553
    assert (found["mean_wall"]["base"], found["mean_wall"]["other"]) == (
        12_030_713 // 2,
        2_251_328 // 2,
    )
    assert (found["activities"]["base"], found["activities"]["other"]) == (292, 58)
    assert found["compiled_code"]["base"] == 0
    assert found["launches"]["base"] is None


def test_ranks_of_a_run(pair: duckdb.DuckDBPyConnection, sample_store: Path) -> None:
    summaries = rows(pair, "FROM run_metrics WHERE starts_with(run_id, 'two_ranks')")
    walls = {row["rank"]: row["wall_ns"] for row in summaries}
    [slowest] = (row["rank"] for row in summaries if row["is_slowest"])
    assert walls[slowest] == max(walls.values())
    assert all(row["is_slowest_of_rank"] for row in summaries)
    found = differences(pair, "two_ranks", "two_ranks")
    assert (found["wall"]["base_rank"], found["wall"]["base"]) == (slowest, walls[slowest])
    with ingest.connect(sample_store) as alone:
        for rank in (0, 1):
            found = differences(pair, "two_ranks", "two_ranks", f", rank := {rank}")
            [single] = rows(
                alone, f"FROM run_metrics WHERE starts_with(run_id, 'two_rank_rank{rank}')"
            )
            assert found["wall"]["base_rank"] == found["wall"]["other_rank"] == rank
            for metric in ("wall", "busy", "bubble", "communication"):
                assert found[metric]["base"] == single[f"{metric}_ns"]
    nothing = differences_of_no_rank(pair)
    assert nothing == []


def differences_of_no_rank(connection: duckdb.DuckDBPyConnection) -> list[Any]:
    run = "(SELECT run_id FROM runs WHERE name = 'two_ranks')"
    return rows(connection, f"FROM run_diff({run}, {run}, rank := 7)")


def steps_found(traces: Traces, *events: Event) -> list[tuple[Any, ...]]:
    connection = traces.add(list(events))
    return connection.sql(
        "SELECT steps_from, step_name, step, start_ns, dur_ns FROM steps ORDER BY start_ns"
    ).fetchall()


def test_steps_are_an_annotation_that_repeats(traces: Traces) -> None:
    found = steps_found(
        traces,
        host("pipeline", "user_annotation", 0, 100),
        host("denoise 1", "user_annotation", 10, 30),
        host("denoise 2", "user_annotation", 40, 20),
        host("scheduler", "user_annotation", 12, 5),
        host("scheduler", "user_annotation", 42, 5),
        host("nn.Module: Flux_0", "python_function", 15, 10),
        host("nn.Module: Flux_0", "python_function", 45, 10),
        host("aten::mm", "cpu_op", 50, 5),
    )
    assert found == [
        ("annotation", "denoise", 0, 10_000, 30_000),
        ("annotation", "denoise", 1, 40_000, 20_000),
    ]


def test_steps_are_an_outermost_module_that_repeats(traces: Traces) -> None:
    found = steps_found(
        traces,
        host("nccl:all_reduce", "user_annotation", 10, 45),
        host("nccl:all_reduce", "user_annotation", 55, 45),
        host("nn.Module: Flux_0", "python_function", 15, 10),
        host("nn.Module: Block_0", "python_function", 16, 4),
        host("nn.Module: Block_0", "python_function", 20, 4),
        host("nn.Module: Flux_0", "python_function", 30, 10),
        host("nn.Module: Decoder_0", "python_function", 50, 40),
    )
    assert found == [
        ("module", "nn.Module: Flux_0", 0, 15_000, 10_000),
        ("module", "nn.Module: Flux_0", 1, 30_000, 10_000),
    ]


@pytest.mark.parametrize(
    "calls",
    [
        [(10, 10, 1)],  # once
        [(10, 10, 1), (80, 10, 1)],  # a small part of the time from first to last
        [(10, 30, 1), (30, 30, 2)],  # on two threads at the same time
        [(10, 50, 1), (20, 30, 1)],  # one inside the other
    ],
)
def test_no_steps_are_found_without_successive_calls(
    traces: Traces, calls: list[tuple[int, int, int]]
) -> None:
    annotations = [host("part", "user_annotation", s, d, tid=tid) for s, d, tid in calls]
    found = steps_found(traces, host("aten::mm", "cpu_op", 0, 100), *annotations)
    assert found == [("run", None, None, 0, 100_000)]


def test_work_outside_of_the_steps_is_counted_separately(traces: Traces) -> None:
    calls = [
        Call("aten::before", (-100, 20), "before", (-90, 100)),  # ends in the window
        Call("aten::first", (10, 20), "first", (5, 50)),
        Call("aten::late", (110, 20), "late", (50, 40)),  # launched after the step, ran in it
        Call("aten::last", (60, 20), "last", (200, 10), stream=9),
        Call("aten::after", (300, 20), "after", (320, 7)),
    ]
    connection = traces.add(diff_traces.trace(calls, 100, 1))
    [metrics] = with_causes(
        rows(connection, "FROM run_metrics"), rows(connection, "FROM run_parts"), "ns"
    )
    adds_up(metrics)
    [totals] = rows(connection, "FROM run_totals")
    # The window is from the start of `first` to the end of `last`, with 5 µs of `before`.
    expected = {
        "wall_ns": 210_000,
        "lead_ns": 5_000,
        "span_ns": 205_000,
        "tail_ns": 0,
        "busy_ns": 95_000,
        "compute_ns": 105_000,
        "overlap_ns": 10_000,  # 5 µs each of `before` and `late`, during `first`
        "bubble_ns": 110_000,
        "bubbles": 1,
        "kernels": 4,
    }
    assert {key: totals[key] for key in expected} == expected
    assert metrics["outside_busy_ns"] == 102_000  # 95 of `before`, 7 of `after`
    # The step launched `first` and `last`, but not `before` and `late`.
    assert (metrics["kernels"], metrics["compute_ns"]) == (2, 60_000)


KERNELS = st.builds(
    Call,
    op=st.just("aten::op"),
    host=st.tuples(st.integers(-50, 250), st.integers(4, 30)),
    kernel=st.sampled_from(["gemm", "ncclKernel_AllReduce", "copy"]),
    device=st.tuples(st.integers(-50, 400), st.integers(0, 60)),
    launch_name=st.sampled_from(["cudaLaunchKernel", "cudaGraphLaunch"]),
    stream=st.sampled_from([7, 9]),
    category=st.sampled_from(["kernel", "gpu_memcpy"]),
)


@pytest.fixture(scope="module")
def one_store(tmp_path_factory: pytest.TempPathFactory) -> Traces:
    """One store for the traces of all examples."""
    directory = tmp_path_factory.mktemp("any")
    return Traces(directory, ingest.Store(directory / "store"))


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@example([Call("aten::op", (199, 4), "gemm", (141, 60))], 1)  # launched as the last step ends
@given(calls=st.lists(KERNELS, min_size=1, max_size=12), steps=st.integers(1, 3))
def test_metrics_of_any_trace_add_up(one_store: Traces, calls: list[Call], steps: int) -> None:
    events = diff_traces.trace(calls, 200, steps)
    run_id = one_store.store.add(one_store.write(events)).run_id
    with ingest.connect(one_store.store.path) as connection:
        parts = rows(connection, f"FROM run_parts WHERE run_id = '{run_id}'")
        totals = rows(connection, f"FROM run_totals WHERE run_id = '{run_id}'")
        per_step = rows(connection, f"FROM run_metrics WHERE run_id = '{run_id}'")
        [metrics] = with_causes(totals, parts, "total_ns")
        [summary] = with_causes(per_step, parts, "ns")
    adds_up(metrics)
    adds_up(summary)
    expected = metrics_in_python.metrics(metrics_in_python.complete(events), "ProfilerStep")
    assert expected[0].pop("outside_busy_ns") == summary["outside_busy_ns"]
    assert {key: metrics[key] for key in expected[0]} == expected[0]
