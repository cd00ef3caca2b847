"""Page Operators, without a browser."""

import pytest

import ingest
from dashboard.drawing import formatting
from tests.builders.events import op
from tests.dashboard.elements import (
    add_whole,
    charts,
    ratios,
    step_heights,
    table_with,
    tables,
    texts,
)
from tests.helpers.samples import TWO_RANKS


def test_a_single_run_is_picked_automatically(app, sampled):
    store = sampled.store("cpu_only")
    assert app(store, "operators").multiselect(key="run").value == ingest.Store(store).run_ids()


def test_an_unknown_run_gets_a_warning(app, shown_store, run_of):
    page = app(shown_store, "operators", run=["gone-12345678", run_of("h100_owlv2")])
    (warning,) = page.warning
    assert r"gone\-12345678" in warning.value
    assert page.multiselect(key="run").value == [run_of("h100_owlv2")]


def test_the_ranking_of_kernels_is_correct(app, shown_store, run_of, truth):
    page = app(shown_store, "operators", run=run_of("h100_owlv2"), level="kernel", step="all")
    table = table_with(page, "percent")
    expected = truth["h100_owlv2.json.gz"]["top_kernels"][:5]
    assert table[table["name"] != "bubble"].head(5)[
        ["name", "calls", "device_ns"]
    ].values.tolist() == [list(row) for row in expected]
    assert "bubble" in set(table["name"])


def test_each_rank_can_be_selected(app, opened, shown_store, run_of):
    page = opened(shown_store, "operators", run=run_of(TWO_RANKS))
    assert page.selectbox(key="device").options == ["rank 0 device 0", "rank 1 device 1"]
    page = app(shown_store, "operators", run=run_of(TWO_RANKS), step="all")
    assert {m.label: m.value for m in page.metric}["Wall time"] == "1.23 s"
    one = page.selectbox(key="device").select("rank 1 device 1").run()
    assert {m.label: m.value for m in one.metric}["Wall time"] == "1.24 s"


def test_a_step_is_ranked_alone(app, shown_store, run_of):
    """Step 9 by kernel: its kernels, its idle time, and shares of its wall time."""
    run = run_of("v100_resnet50_workers0")
    page = app(shown_store, "operators", run=run, step="9", level="kernel")
    with ingest.connect(shown_store) as connection:
        kernels = connection.execute(
            "SELECT name, count(*), sum(dur_ns) FROM kernels WHERE run_id = $1 AND step = 9 "
            "GROUP BY name ORDER BY 3 DESC, name",
            [run],
        ).fetchall()
        wall_ns, idle_ns = connection.execute(
            "SELECT wall_ns, idle_ns FROM step_metrics WHERE run_id = $1 AND step = 9", [run]
        ).fetchone()
    table = table_with(page, "percent")
    rows = table[table["name"] != "bubble"]
    assert list(rows[["name", "calls", "device_ns"]].itertuples(index=False, name=None)) == kernels
    assert list(rows["percent"]) == [pytest.approx(100 * ns / wall_ns) for *_, ns in kernels]
    metrics = {m.label: m.value for m in page.metric}
    assert metrics["Wall time"] == formatting.duration(wall_ns)
    assert metrics["Idle"] == formatting.duration(idle_ns)


def test_a_range_of_steps_is_the_sum_of_its_steps(app, shown_store, run_of):
    run = run_of("v100_resnet50_workers0")
    with ingest.connect(shown_store) as connection:
        (wall_ns,) = connection.execute(
            "SELECT sum(wall_ns) FROM step_metrics WHERE run_id = $1 AND step BETWEEN 7 AND 9",
            [run],
        ).fetchone()
    page = app(shown_store, "operators", run=run, step="7-9")
    assert {m.label: m.value for m in page.metric}["Wall time"] == formatting.duration(wall_ns)


def test_the_strip_of_steps_is_as_high_as_their_wall_times(opened, shown_store, run_of):
    """The parts of these steps overlap."""
    run = run_of(TWO_RANKS)
    with ingest.connect(shown_store) as connection:
        walls = connection.execute(
            "SELECT step, wall_ns FROM step_metrics "
            "WHERE run_id = $1 AND rank = 0 AND step IS NOT NULL ORDER BY step",
            [run],
        ).fetchall()
    drawn = step_heights(opened(shown_store, "operators", run=run))
    assert list(drawn) == [step for step, _ in walls]
    assert ratios(drawn.values()) == pytest.approx(ratios(wall_ns for _, wall_ns in walls))


def test_search_narrows_the_ranking(app, shown_store, run_of):
    page = app(shown_store, "operators", run=run_of("h100_owlv2"))
    page.text_input(key="q").set_value("SOFT").run()
    assert list(tables(page)[0]["name"]) == ["aten::softmax"]
    page.query_params["name"] = "aten::bmm"
    page.run()
    assert r"The filter hides **aten\:\:bmm**" in texts(page)
    page.text_input(key="q").set_value("no such thing").run()
    assert "Clear the search" in texts(page)


def test_several_runs_are_side_by_side(app, shown_store, run_of):
    runs = [run_of("v100_resnet50_workers0"), run_of("v100_resnet50_workers4")]
    page = app(shown_store, "operators", run=runs)
    assert list(tables(page)[1].columns) == ["name", *(f"{run}_ns" for run in runs)]
    assert tables(page)[1]["name"].iloc[0] == "bubble"


def test_a_name_in_the_url_opens_its_details(app, shown_store, run_of):
    page = app(shown_store, "operators", run=run_of("h100_owlv2"), name="aten::bmm")
    assert [tab.label for tab in page.tabs] == ["Kernels", "Sequences", "Shapes", "Calls"]


@pytest.fixture(scope="module")
def hosts(shared_traces):
    """Two runs without a device: `mm` takes 30 µs in one call, and 40 in two."""
    calls = {"one": [op("mm", 0, 30)], "two": [op("mm", 0, 10), op("mm", 20, 30), op("add", 60, 5)]}
    return [add_whole(shared_traces, name, events) for name, events in calls.items()]


def test_hosts_of_several_runs_have_separate_rows(app, shared_traces, hosts):
    one, two = hosts
    page = app(shared_traces.store.path, "operators", run=hosts)
    table = table_with(page, "self_ns")[["run_id", "name", "self_ns", "percent"]]
    assert sorted(table.round(1).itertuples(index=False, name=None)) == [
        (one, "mm", 30_000, 100.0),
        (two, "add", 5_000, 11.1),
        (two, "mm", 40_000, 88.9),
    ]
    (bars,) = charts(page)
    found = sorted(bars[["name", "run", "value"]].itertuples(index=False, name=None))
    assert found == sorted([("add", two, 5), ("mm", one, 30), ("mm", two, 40)])


def test_a_link_to_an_operator_of_a_host_opens_that_run(app, shared_traces, hosts):
    for run, calls in zip(hosts, (1, 2), strict=True):
        page = app(shared_traces.store.path, "operators", run=hosts, name="mm", process=f"{run} 0")
        assert len(tables(page)[-1]) == calls


def test_a_tick_belongs_to_its_step(app, shown_store, run_of):
    """Another step has other rows: the row with the name in the address is ticked."""
    run = run_of("v100_resnet50_workers0")
    page = app(shown_store, "operators", run=run, step="5", name="aten::conv2d")
    for step in ("9", "all"):
        page.query_params["step"] = step
        page.run()
        assert "aten::conv2d" in page.query_params["name"]
        assert [tab.label for tab in page.tabs] == ["Kernels", "Sequences", "Shapes", "Calls"]


def test_a_run_without_activity_says_so(app, traces):
    run = add_whole(traces, "idle", [{"ph": "X", "cat": "python_function", "name": "f", "ts": 1}])
    assert "No activity was recorded" in texts(app(traces.store.path, "operators", run=run))
