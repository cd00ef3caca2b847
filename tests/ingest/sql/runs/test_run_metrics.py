"""The metrics of runs, checked on small traces and on pairs of samples."""

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
from tests.builders.relations import Relations, built, ranks, trace
from tests.helpers.samples import COMPILED, EAGER, TWO_RANKS, Samples
from tests.ingest.sql.runs import metrics_in_python


@pytest.fixture(scope="session")
def compared(sampled: Samples) -> Path:
    """A store with the traces of `compile/`, and with two ranks as one run."""
    return sampled.store(EAGER, f"{COMPILED}-rank0", TWO_RANKS)


@pytest.fixture
def pair(compared: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to that store."""
    with ingest.connect(compared) as connection:
        yield connection


def rows(connection: duckdb.DuckDBPyConnection | Relations, query: str) -> list[dict[str, Any]]:
    """Return the rows as dictionaries by column name."""
    relation = connection.sql(query)
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


def with_causes(
    rows: list[dict[str, Any]], parts: list[dict[str, Any]], ns: str
) -> list[dict[str, Any]]:
    """Add the idle time of the row's device by cause, such as `idle_host_ns`, to each row."""
    return [
        row
        | {
            f"idle_{part['part']}_ns": part[ns]
            for part in parts
            if part["is_idle"]
            and all(part[key] == row[key] for key in ("run_id", "rank", "device"))
        }
        for row in rows
    ]


def adds_up(metrics: dict[str, Any]) -> None:
    """Check the sums that hold in every row, both of totals and of metrics per step."""
    f = {name: value or 0 for name, value in metrics.items()}
    assert f["wall_ns"] == f.get("fill_ns", 0) + f["busy_ns"] + f["idle_ns"]
    assert f["idle_ns"] == sum(
        f[name] for name in f if name.startswith("idle_") and name != "idle_ns"
    )
    summed = f["compute_ns"] + f["communication_ns"] + f["copy_ns"] + f["compiled_code_ns"]
    assert f["busy_ns"] == summed - f["overlap_ns"]
    assert min(f.get(name, 0) for name in ("fill_ns", "idle_ns", "overlap_ns")) >= 0


def differences(
    connection: duckdb.DuckDBPyConnection | Relations, base: str, other: str, more: str = ""
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


def test_run_diff_matches_differences_calculated_by_hand() -> None:
    sides = {"eager": diff_traces.eager(), "compiled": diff_traces.compiled()}
    connection = built(
        {name: trace(events, **diff_traces.DEVICE) for name, events in sides.items()}
    )
    found = differences(connection, "eager", "compiled")
    parts = {
        name: (row["base"], row["other"])
        for name, row in found.items()
        if row["is_part"] and (row["base"] or row["other"])
    }
    assert parts == diff_traces.PARTS
    assert (found["wall"]["base"], found["wall"]["other"]) == diff_traces.WALL
    assert found["wall"]["percent"] == -20
    assert found["idle_host"]["change"] == -194_000
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
    [median] = (row["rank"] for row in summaries if row["is_default"])
    assert walls[median] == min(walls.values())
    assert all(row["is_slowest_of_rank"] for row in summaries)
    found = differences(pair, "two_ranks", "two_ranks")
    assert (found["wall"]["base_rank"], found["wall"]["base"]) == (median, walls[median])
    with ingest.connect(sample_store) as alone:
        for rank in (0, 1):
            found = differences(pair, "two_ranks", "two_ranks", f", rank := {rank}")
            [single] = rows(
                alone, f"FROM run_metrics WHERE starts_with(run_id, 'two_rank_rank{rank}')"
            )
            assert found["wall"]["base_rank"] == found["wall"]["other_rank"] == rank
            for metric, column in (("wall", "wall_ns"), ("busy", "busy_ns"), ("idle", "idle_ns")):
                assert found[metric]["base"] == single[column]
            assert found["communication"]["base"] == single["communication_ns"]
    nothing = differences_of_no_rank(pair)
    assert nothing == []


def differences_of_no_rank(connection: duckdb.DuckDBPyConnection) -> list[Any]:
    run = "(SELECT run_id FROM runs WHERE name = 'two_ranks')"
    return rows(connection, f"FROM run_diff({run}, {run}, rank := 7)")


def part(start: float, dur: float, tid: int = 1) -> Event:
    return host("part", "user_annotation", start, dur, tid=tid)


WHOLE = host("aten::mm", "cpu_op", 0, 100)
IS_RUN = [("run", None, None, 0, 100_000)]
FLUX = "nn.Module: Flux_0"
# Events, and the steps found in them: how, their name, and the number, start and length of each.
STEPS: dict[str, tuple[list[Event], list[tuple[Any, ...]]]] = {
    "an annotation that repeats": (
        [
            host("pipeline", "user_annotation", 0, 100),
            host("denoise 1", "user_annotation", 10, 30),
            host("denoise 2", "user_annotation", 40, 20),
            host("scheduler", "user_annotation", 12, 5),
            host("scheduler", "user_annotation", 42, 5),
            host(FLUX, "python_function", 15, 10),
            host(FLUX, "python_function", 45, 10),
            host("aten::mm", "cpu_op", 50, 5),
        ],
        [
            ("annotation", "denoise", 0, 10_000, 30_000),
            ("annotation", "denoise", 1, 40_000, 20_000),
        ],
    ),
    "an outermost module that repeats": (
        [
            host("nccl:all_reduce", "user_annotation", 10, 45),
            host("nccl:all_reduce", "user_annotation", 55, 45),
            host(FLUX, "python_function", 15, 10),
            host("nn.Module: Block_0", "python_function", 16, 4),
            host("nn.Module: Block_0", "python_function", 20, 4),
            host(FLUX, "python_function", 30, 10),
            host("nn.Module: Decoder_0", "python_function", 50, 40),
        ],
        [("module", FLUX, 0, 15_000, 10_000), ("module", FLUX, 1, 30_000, 10_000)],
    ),
    "a single call": ([WHOLE, part(10, 10)], IS_RUN),
    "a small part of the time from first to last": ([WHOLE, part(10, 10), part(80, 10)], IS_RUN),
    "two threads at the same time": ([WHOLE, part(10, 30), part(30, 30, tid=2)], IS_RUN),
    "one call inside the other": ([WHOLE, part(10, 50), part(20, 30)], IS_RUN),
}


def test_steps_are_successive_calls_or_the_run() -> None:
    found = built(ranks(events for events, _ in STEPS.values())).by_rank(
        "SELECT rank, steps_from, step_name, step, start_ns, dur_ns FROM steps ORDER BY start_ns"
    )
    assert dict(zip(STEPS, found, strict=True)) == {
        case: expected for case, (_, expected) in STEPS.items()
    }


def test_work_outside_of_the_steps_is_counted_separately() -> None:
    calls = [
        Call("aten::before", (-100, 20), "before", (-90, 100)),  # ends in the window
        Call("aten::first", (10, 20), "first", (5, 50)),
        Call("aten::late", (110, 20), "late", (50, 40)),  # launched after the step, ran in it
        Call("aten::last", (60, 20), "last", (200, 10), stream=9),
        Call("aten::after", (300, 20), "after", (320, 7)),
    ]
    connection = built(diff_traces.trace(calls, 100, 1))
    [metrics] = with_causes(
        rows(connection, "FROM run_metrics"), rows(connection, "FROM run_parts"), "ns"
    )
    adds_up(metrics)
    [totals] = rows(connection, "FROM run_totals")
    # The window is from the start of the step to the end of `last`, with 10 µs of `before`.
    expected = {
        "wall_ns": 210_000,
        "fill_ns": 0,
        "busy_ns": 100_000,
        "compute_ns": 110_000,
        "overlap_ns": 10_000,  # 5 µs each of `before` and `late`, during `first`
        "idle_ns": 110_000,
        "bubbles": 1,
        "kernels": 4,
    }
    assert {key: totals[key] for key in expected} == expected
    assert metrics["outside_busy_ns"] == 97_000  # 90 of `before`, 7 of `after`
    # The step launched `first` and `last`; `before` and `late` also ran in its time.
    assert (metrics["kernels"], metrics["compute_ns"]) == (2, 110_000)


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


STEPS_OF_CALLS = st.tuples(st.lists(KERNELS, min_size=1, max_size=12), st.integers(1, 3))
AS_THE_LAST_STEP_ENDS = Call("aten::op", (199, 4), "gemm", (141, 60))


@pytest.mark.slow
@settings(max_examples=3, deadline=None)
@example([([AS_THE_LAST_STEP_ENDS], 1)])
@given(runs=st.lists(STEPS_OF_CALLS, min_size=7, max_size=7))
def test_metrics_of_any_trace_add_up(runs: list[tuple[list[Call], int]]) -> None:
    traces = [diff_traces.trace(calls, 200, steps) for calls, steps in runs]
    relations = built(ranks(traces))
    parts = rows(relations, "FROM run_parts")
    totals = rows(relations, "FROM run_totals ORDER BY rank")
    per_step = rows(relations, "FROM run_metrics ORDER BY rank")
    totals, per_step = with_causes(totals, parts, "total_ns"), with_causes(per_step, parts, "ns")
    for events, metrics, summary in zip(traces, totals, per_step, strict=True):
        adds_up(metrics)
        adds_up(summary)
        expected = metrics_in_python.metrics(metrics_in_python.complete(events), "ProfilerStep")
        assert expected[0].pop("outside_busy_ns") == summary["outside_busy_ns"]
        expected[0]["idle_ns"] -= metrics["fill_ns"]
        assert {key: metrics[key] for key in expected[0]} == expected[0]
