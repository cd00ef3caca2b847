"""Page Compare without a browser."""

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import ingest
from dashboard.compare import answer, op_rows
from dashboard.compare.op_rows import Filter
from dashboard.compare.pair import Pair
from dashboard.drawing import formatting
from tests.builders.compile_logs import event as log_event
from tests.builders.events import Event, op
from tests.builders.pipelines import CALL, mark
from tests.conftest import Traces
from tests.dashboard.conftest import MI300, OWLV2, RunOf
from tests.dashboard.elements import add_whole, boxes, event, lanes, table_with, tables, texts
from tests.helpers.samples import COMPILED, EAGER, Samples

PAIRS = [(EAGER, COMPILED), (OWLV2, MI300)]


@pytest.fixture
def page(
    opened: Callable[..., Any], compared_store: Path, compared_run: Callable[[str], str]
) -> Callable[..., Any]:
    """A function that opens the page on two runs of the compared store. Tests share the page."""

    def run(base: str, other: str, **query: str | list[str]) -> Any:
        names = {"base": compared_run(base), "other": compared_run(other)}
        return opened(compared_store, "compare", **names, **query)

    return run


@pytest.fixture
def own_page(
    app: Callable[..., Any], compared_store: Path, compared_run: Callable[[str], str]
) -> Callable[..., Any]:
    """A function that opens the page on an eager and a compiled run, for use by one test only."""
    pair = {"base": compared_run(EAGER), "other": compared_run(COMPILED)}
    return lambda **query: app(compared_store, "compare", **pair, **query)


WORK = op("aten::mm", 2, 30)
SMALL: dict[str, list[Event]] = {
    "far": [event("kernel", 0), event("kernel", 500)],
    "near": [event("kernel", 0), event("kernel", 20)],
    "device": [event("kernel", 0), event("cpu_op", 5, "aten::mm")],
    "host": [event("cpu_op", 0, "aten::mm")],
    "stepped": [event("user_annotation", 0, "ProfilerStep#1"), event("kernel", 0)],
    "compiling": [event("cpu_op", 0, "entire_frame_compile (dynamo_timed)")],
    "slow_call": [*CALL, WORK],
    "fast_call": [mark("pipeline: Flux", 0, 60), CALL[1], WORK],
}


@pytest.fixture(scope="module")
def small(shared_traces: Traces) -> ingest.Store:
    """A store of the runs SMALL."""
    for name, events in SMALL.items():
        add_whole(shared_traces, name, events)
    return shared_traces.store


@pytest.fixture
def small_page(app: Callable[..., Any], small: ingest.Store) -> Callable[[str, str], Any]:
    """A function that opens the page on two runs of SMALL."""

    def run(base: str, other: str) -> Any:
        shown = app(small.path, "compare", base=small.find(base), other=small.find(other))
        assert not shown.exception
        return shown

    return run


@pytest.fixture(scope="module")
def rows_of(compared_store: Path) -> Iterator[Callable[[str, list[Any]], pd.DataFrame]]:
    """A function that returns the rows of a query on the compared store."""
    with ingest.connect(compared_store) as connection:
        yield lambda query, parameters: connection.execute(query, parameters).df()


@pytest.mark.parametrize(("base", "other"), PAIRS)
def test_the_parts_add_up_to_the_wall_times(page, rows_of, compared_run, base, other):
    runs = [compared_run(base), compared_run(other)]
    wall = rows_of("SELECT * FROM run_diff($1, $2) WHERE metric = 'wall'", runs).iloc[0]
    rows = table_with(page(base, other), "part")
    parts = rows.iloc[1:]
    assert len(parts) > 2
    assert (parts["change_ns"] != 0).all()
    assert list(rows[["base_ns", "other_ns"]].iloc[0]) == [wall["base"], wall["other"]]
    assert parts["change_ns"].sum() == rows["change_ns"].iloc[0] == wall["change"]


@pytest.mark.parametrize(("base", "other"), PAIRS)
def test_the_answer_comes_first(page, rows_of, compared_run, base, other):
    runs = [compared_run(base), compared_run(other)]
    metrics = rows_of("SELECT * FROM run_diff($1, $2)", runs).set_index("metric")
    shown = page(base, other)
    for label, name in (("Wall time", "wall"), ("Idle", "idle")):
        (metric,) = (metric for metric in shown.metric if metric.label == label)
        row = metrics.loc[name]
        times = [formatting.duration(row[side]) for side in ("base", "other")]
        assert metric.value == " → ".join(times)
        assert metric.delta.startswith(formatting.change(row["change"]))
    assert "times as fast" in texts(shown)


@pytest.mark.parametrize(
    ("base", "other", "text"),
    [
        (2.0, 1.0, "2.00 times as fast"),
        (1.0, 2.0, "2.00 times as long"),
        (1000.0, 1001.0, "no difference"),
        (0.0, 5.0, "no difference"),
    ],
)
def test_texts_of_ratios(base, other, text):
    assert answer.ratio(base, other) == text


@pytest.mark.parametrize(("base", "other"), PAIRS)
def test_the_rows_add_up_to_both_runs_whatever_is_shown(page, rows_of, compared_run, base, other):
    runs = [compared_run(base), compared_run(other)]
    totals = rows_of("SELECT count(*), sum(base_ns), sum(other_ns) FROM op_diff($1, $2)", runs)
    count, *times = totals.iloc[0]
    every = " → ".join(map(formatting.duration, times))
    shown = page(base, other)
    assert f"All {int(count)} rows: {every}" in texts(shown)
    assert len(table_with(shown, "evidence")) == count
    found = page(base, other, q="linear" if base == OWLV2 else "gelu")
    assert "Not shown: " in texts(found)
    assert f"All {int(count)}: {every}" in texts(found)
    assert 0 < len(table_with(found, "evidence")) < count


@pytest.fixture(scope="module")
def differences(rows_of: Callable[..., pd.DataFrame], compared_run: RunOf) -> pd.DataFrame:
    """The rows of `op_diff` for an eager and a compiled run."""
    return rows_of("SELECT * FROM op_diff($1, $2)", [compared_run(EAGER), compared_run(COMPILED)])


@pytest.mark.parametrize("least", ["0.1", "5"])
def test_small_changes_are_hidden_and_counted(page, rows_of, compared_run, differences, least):
    changes = differences["change_ns"].abs()
    (wall,) = rows_of("SELECT wall_ns FROM run_metrics WHERE run_id = $1", [compared_run(EAGER)])[
        "wall_ns"
    ]
    small = changes < wall * float(least) / 100
    shown = page(EAGER, COMPILED, min=least)
    assert len(table_with(shown, "evidence")) == (~small).sum() > 0
    text = texts(shown)
    assert f"Of these, {small.sum()} changed by less than" in text
    assert f"Not shown: {small.sum()} rows" in text
    assert table_with(shown, "child")["rows"].sum() == len(changes)


FILTERS = [
    Filter(),
    Filter(search="GELU"),
    Filter(search="rms_norm"),  # an operator that only fused kernels replace
    Filter(statuses=("fused", "slower")),
    Filter(module="FluxTransformer2DModel/FluxTransformerBlock"),
    Filter("view", ("fused",), "FluxTransformer2DModel"),
    Filter(search="nothing is called that"),
]


def matches(row: Any, wanted: Filter) -> bool:
    """Return whether a row of `op_diff` matches a filter."""
    replaced = [] if formatting.missing(row.base_ops) else [op["name"] for op in row.base_ops]
    texts = [row.name, row.module, row.host_frame, *replaced]
    known = [text.lower() for text in texts if not formatting.missing(text)]
    return (
        any(wanted.search.lower() in text for text in known)
        and row.status in (wanted.statuses or op_rows.STATUSES)
        and (not wanted.module or f"{row.module}/".startswith(f"{wanted.module}/"))
    )


@pytest.mark.parametrize("wanted", FILTERS, ids=str)
def test_the_sql_of_the_table_returns_its_rows(page, rows_of, compared_run, differences, wanted):
    pair = Pair(compared_run(EAGER), compared_run(COMPILED), None)
    every = differences.assign(size=differences["change_ns"].abs())
    every = every.sort_values(["size", "row_id"], ascending=[False, True])
    expected = [row for row in every.itertuples(index=False) if matches(row, wanted)]
    query = op_rows.query_of(pair, wanted)
    ids = [row.row_id for row in expected]
    assert list(rows_of(query.text, list(query.parameters))["row_id"]) == ids
    assert list(rows_of(query.inlined(), [])["row_id"]) == ids
    statuses = [op_rows.STATUSES[status] for status in wanted.statuses]
    address = {"q": wanted.search, "status": statuses, "module": wanted.module}
    shown = page(EAGER, COMPILED, **{key: value for key, value in address.items() if value})
    if not expected:
        assert "No rows match" in texts(shown)
        return
    table = table_with(shown, "evidence")
    assert list(table["name"]) == [row.name for row in expected]
    assert table["base_ns"].sum() == pytest.approx(sum(row.base_ns for row in expected))


def test_modules_add_up_to_their_parent(rows_of, compared_run):
    pair = Pair(compared_run(EAGER), compared_run(COMPILED), None)
    level = ""
    for _ in range(3):
        wanted = Filter(module=level)
        queries = op_rows.query_of(pair, wanted), op_rows.children_of(pair, wanted)
        inside, below = (rows_of(query.text, list(query.parameters)) for query in queries)
        for column in ("base_ns", "other_ns", "change_ns"):
            assert below[column].sum() == pytest.approx(inside[column].sum())
        assert below["rows"].sum() == len(inside)
        level = below["path"].dropna().iloc[0]
    assert level.count("/") == 2


def test_a_module_in_the_url_shows_its_children(page, own_page):
    whole = page(EAGER, COMPILED)
    block = own_page(module="FluxTransformer2DModel/FluxTransformerBlock")
    rows = table_with(block, "evidence")
    assert 0 < len(rows) < len(table_with(whole, "evidence"))
    assert all(
        module.startswith("FluxTransformer2DModel/FluxTransformerBlock")
        for module in rows["module"]
    )
    up = next(button for button in block.button if button.label == "FluxTransformer2DModel")
    up.click().run()
    assert block.query_params["module"] == "FluxTransformer2DModel"
    unknown = page(EAGER, COMPILED, module="Gone")
    assert len(table_with(unknown, "evidence")) == len(table_with(whole, "evidence"))


def test_a_status_filters_the_rows(page):
    shown = page(EAGER, COMPILED, status="fused")
    assert set(table_with(shown, "evidence")["status"]) == {"fused"}


def test_a_fused_kernel_shows_the_operators_it_replaced(page, rows_of, compared_run):
    runs = [compared_run(EAGER), compared_run(COMPILED)]
    row = rows_of(
        "SELECT * FROM op_diff($1, $2) WHERE status = 'fused' ORDER BY base_calls DESC LIMIT 1",
        runs,
    ).iloc[0]
    shown = page(EAGER, COMPILED, row=row["row_id"])
    assert "Aligned by torch's compile log" in texts(shown)
    left, right = (each for each in tables(shown) if "time_ns" in each)
    assert left["time_ns"].sum() == pytest.approx(row["base_ns"])
    assert left["calls"].sum() == pytest.approx(row["base_calls"])
    assert right["time_ns"].sum() == pytest.approx(row["other_ns"])
    assert len(left) > len(right)
    faint = [boxes(chart)["is_faint"] for chart in lanes(shown)]
    assert [set(of_side) for of_side in faint] == [{True, False}] * 2
    assert (~faint[0]).sum() > (~faint[1]).sum() > 0


def test_both_timelines_begin_with_their_step(page, rows_of, compared_run):
    runs = [compared_run(EAGER), compared_run(COMPILED)]
    steps = rows_of("SELECT * FROM compared_steps($1, $2) WHERE is_median ORDER BY side", runs)
    drawn = [boxes(chart) for chart in lanes(page(EAGER, COMPILED))]
    for of_side, step in zip(drawn, steps.itertuples(), strict=True):
        inside = rows_of(
            "SELECT * FROM work_item_timeline WHERE run_id = $1 AND measure = 'host' "
            "AND start_ns < $3 AND end_ns > $2",
            [step.run_id, step.start_ns, step.work_end_ns],
        )
        assert len(of_side) == len(inside)
    first, _ = lanes(page(EAGER, COMPILED, steps="step 1 of each"))
    assert not boxes(first).equals(drawn[0])
    # `step` has another meaning on other pages and in old links.
    for old in ("1", "median step"):
        same, _ = lanes(page(EAGER, COMPILED, step=old))
        assert boxes(same).equals(drawn[0])


def test_the_whole_page_is_about_the_picked_step(page, rows_of, compared_run):
    runs = [compared_run(EAGER), compared_run(COMPILED)]
    metrics = rows_of("SELECT * FROM step_diff($1, $2, 1)", runs).set_index("metric")
    shown = page(EAGER, COMPILED, steps="step 1 of each")
    (wall,) = (metric for metric in shown.metric if metric.label == "Wall time")
    base, other = (formatting.duration(metrics.loc["wall", side]) for side in ("base", "other"))
    assert wall.value == f"{base} → {other}"
    assert "in its measured step 1, " in texts(shown)


def test_kernels_of_both_runs_are_compared(own_page, rows_of, compared_run):
    shown = own_page()
    shown.session_state["all-kernels"] = True
    (kernels,) = (rows for rows in tables(shown.run()) if rows.columns[0] == "name")
    runs = [compared_run(EAGER), compared_run(COMPILED)]
    expected = rows_of(
        "SELECT name, change_ns FROM kernel_diff($1, $2) "
        "ORDER BY abs(change_ns) DESC, base_ns DESC, name LIMIT 200",
        runs,
    )
    assert kernels[["name", "change_ns"]].values.tolist() == expected.values.tolist()


def test_compilations_show_their_reasons(page, compared_run, rows_of):
    shown = page(EAGER, COMPILED)
    table = table_with(shown, "reason")
    assert list(table["is_recompile"]) == ["no", "yes"]
    assert "size mismatch" in table["reason"].iloc[1]
    assert "including 1 recompilation" in texts(shown)
    eager, compiled = compared_run(EAGER), compared_run(COMPILED)
    ((compile_ns,),) = rows_of(
        "SELECT sum(dur_ns) FROM compilations WHERE run_id = $1", [compiled]
    ).to_numpy()
    ((saved_ns,),) = rows_of(
        "SELECT max(wall_ns) - min(wall_ns) FROM run_metrics WHERE run_id IN ($1, $2)",
        [eager, compiled],
    ).to_numpy()
    steps = math.ceil(compile_ns / saved_ns)
    assert f"compiling pays off after {steps:,} steps" in texts(shown)
    assert "pays off" not in texts(page(OWLV2, MI300))
    assert "No compilations were recorded in either run" in texts(page(OWLV2, MI300))


def test_a_run_that_compiled_while_measured_is_flagged(app: Any, sampled: Samples) -> None:
    names = ("flux_eager_min", "flux_compile_recompile")
    store = sampled.store(*names)
    base, other = map(ingest.Store(store).find, names)
    shown = app(store, "compare", base=base, other=other)
    assert any("while it was measured" in warning.value for warning in shown.warning)


def test_other_differences_are_shown_first(page):
    (warning,) = page(OWLV2, MI300).warning
    assert "The devices differ" in warning.value


def test_the_older_of_two_picked_runs_is_the_base(app, compared_store, compared_run):
    runs = [compared_run(COMPILED), compared_run(EAGER)]
    shown = app(compared_store, "compare", run=runs)
    assert shown.selectbox(key="base").value == compared_run(EAGER)
    assert shown.selectbox(key="other").value == compared_run(COMPILED)
    next(button for button in shown.button if button.label == "Swap").click().run()
    assert shown.selectbox(key="base").value == compared_run(COMPILED)
    assert "times as long" in texts(shown)
    assert not shown.exception


def test_the_page_shows_what_to_do_next(app, compared_store, compared_run, sampled, tmp_path):
    assert "Pick two runs" in texts(app(compared_store, "compare"))
    one = app(compared_store, "compare", base=compared_run(EAGER))
    assert "Pick the second run" in texts(one)
    same = app(compared_store, "compare", base=compared_run(EAGER), other=compared_run(EAGER))
    assert "same run" in texts(same)
    gone = app(compared_store, "compare", base="gone-12345678", other=compared_run(EAGER))
    assert any("gone" in warning.value for warning in gone.warning)
    assert "ingest add run_dir/" in texts(app(tmp_path / "empty", "compare"))
    alone = sampled.store(EAGER)
    shown = app(alone, "compare", run=ingest.Store(alone).find(EAGER))
    assert "fewer than two runs" in texts(shown)


def test_runs_without_operators_or_steps_still_have_a_page(small_page):
    shown = small_page("far", "near")
    assert "no steps were found" in texts(shown)
    assert list(table_with(shown, "part")["part"])[1:] == ["idle: unknown"]
    assert "times as fast" in texts(shown)


@pytest.mark.parametrize(
    ("base", "other", "reason"),
    [
        ("device", "host", "one is device time and the other host time"),
        ("stepped", "far", "one is a whole recording and the other a step"),
    ],
)
def test_runs_that_differ_in_kind_have_no_ratio(small_page, base, other, reason):
    shown = small_page(base, other)
    assert reason in texts(shown)
    assert "times as" not in texts(shown)
    assert not any("%" in str(metric.delta) for metric in shown.metric)


def test_compilation_on_a_host_without_a_data_loader_is_not_idle(small):
    run = small.find("compiling")
    with ingest.connect(small.path) as connection:
        [(since,)] = connection.execute(
            "SELECT start_ns FROM top_ops WHERE run_id = $1", [run]
        ).fetchall()
        assert connection.execute(
            "SELECT DISTINCT part FROM host_occupancy($1, 0, $2, $3, 1)",
            [run, since, since + 10_000],
        ).fetchall() == [("compile",)]


@pytest.mark.parametrize("bins", [1, 7, 240])
def test_host_occupancy_is_the_union_of_operators(compared_store, compared_run, bins):
    """Compare with a sweep over the operators of all threads."""
    run = compared_run(EAGER)
    with ingest.connect(compared_store) as connection:
        spans = connection.execute(
            "SELECT start_ns, start_ns + dur_ns FROM top_ops "
            "WHERE run_id = $1 AND kind = 'operator' ORDER BY 1",
            [run],
        ).fetchall()
        since, until = spans[10][0] + 3, spans[200][1] - 5
        found = connection.execute(
            "SELECT sum(part_ns)::BIGINT, max(percent) FROM host_occupancy($1, 0, $2, $3, $4) "
            "WHERE part = 'compute'",
            [run, since, until, bins],
        ).fetchall()[0]
    busy, reached = 0, since
    for start, end in spans:
        start, end = max(start, reached), min(end, until)
        busy += max(0, end - start)
        reached = max(reached, end)
    assert found[0] == busy
    assert found[1] <= 100


def test_phases_add_up_to_the_compilations(compared_store: Path) -> None:
    with ingest.connect(compared_store) as connection:
        phases: list[tuple[Any, ...]] = connection.execute(
            "SELECT run_id, sum(self_ns) FROM phase_ranking GROUP BY run_id"
        ).fetchall()
        rows: duckdb.DuckDBPyConnection = connection.execute(
            "SELECT run_id, sum(self_ns) FROM compile_phases GROUP BY run_id"
        )
        assert phases
        assert phases == rows.fetchall()


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> ingest.Store:
    """A store of `two`, which has two ranks with 100 and 300 µs of dynamo, and `one`, which has one
    rank with 50 µs, 20 of them in an inner phase.
    """
    root = tmp_path_factory.mktemp("logged")
    store = ingest.Store(root / "store")

    def add(name: str, *phases_us: dict[str, float]) -> None:
        directory = root / name
        directory.mkdir()
        for rank, phases in enumerate(phases_us):
            log = "".join(
                log_event("0/0", "B", phase, 1e15) + log_event("0/0", "E", phase, 1e15 + us)
                for phase, us in phases.items()
            )
            (directory / f"dedicated_log_torch_trace_rank_{rank}_x.log").write_text(log)
            trace = {"traceEvents": [event("cpu_op", 0)], "distributedInfo": {"rank": rank}}
            (directory / f"rank{rank}.trace.json").write_text(json.dumps(trace))
        store.add(directory)

    add("two", {"dynamo": 100}, {"dynamo": 300})
    add("one", {"dynamo": 50, "inductor": 20})
    return store


@pytest.mark.parametrize(
    ("base", "other", "dynamo", "inductor"),
    [
        ("two", "one", (400_000, 30_000, -370_000), (0, 20_000, 20_000)),
        ("one", "two", (30_000, 400_000, 370_000), (20_000, 0, -20_000)),
    ],
)
def test_phases_of_all_ranks_are_summed_on_their_side(app, logged, base, other, dynamo, inductor):
    page = app(logged.path, "compare", base=logged.find(base), other=logged.find(other))
    shown = table_with(page, "phase")
    rows = {row.phase: (row.base_ns, row.other_ns, row.change_ns) for row in shown.itertuples()}
    assert rows == {"dynamo": dynamo, "inductor": inductor}


def test_the_changes_of_stages_add_up_to_the_change_of_the_call(small_page):
    changes = table_with(small_page("slow_call", "fast_call"), "base_idle_ns")
    changes = changes.set_index("stage")["change_ns"]
    of_stages = changes.filter(regex=r"^\u2003\w")
    assert changes["call"] == of_stages.sum() == -40_000
    assert len(of_stages) == 4


def test_runs_without_pipelines_have_no_stages(page):
    text = texts(page(EAGER, COMPILED))
    assert "Stages of the pipeline" not in text
    assert "Kernels by name" in text
