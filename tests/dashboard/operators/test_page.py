"""Page Operators, without a browser."""

import pytest

from tests.builders.events import op
from tests.dashboard.elements import add_whole, charts, texts
from tests.samples import TWO_RANKS


def test_a_single_run_is_picked_by_itself(app, store, samples):
    run = store.add(samples / "traces" / "cpu_only.json.gz").run_id
    assert app(store.path, "operators").multiselect(key="run").value == [run]


def test_an_unknown_run_gets_a_clear_word(app, shown_store, run_of):
    page = app(shown_store, "operators", run=["gone-12345678", run_of("h100_owlv2")])
    (warning,) = page.warning
    assert r"gone\-12345678" in warning.value
    assert page.multiselect(key="run").value == [run_of("h100_owlv2")]


def test_kernels_are_ranked_as_computed_elsewhere(app, shown_store, run_of, truth):
    page = app(shown_store, "operators", run=run_of("h100_owlv2"), level="kernel")
    table = next(frame.value for frame in page.dataframe if "percent" in frame.value)
    expected = truth["h100_owlv2.json.gz"]["top_kernels"][:5]
    assert table[table["name"] != "bubble"].head(5)[
        ["name", "calls", "device_ns"]
    ].values.tolist() == [list(row) for row in expected]
    assert "bubble" in set(table["name"])


def test_each_rank_can_be_looked_at(app, shown_store, run_of):
    page = app(shown_store, "operators", run=run_of(TWO_RANKS))
    assert page.selectbox(key="device").options == [
        "all devices",
        "rank 0 device 0",
        "rank 1 device 1",
    ]
    of_both = {m.label: m.value for m in page.metric}
    assert of_both["Span (mean of 2 devices)"] == "1.23 s"  # 1.223 and 1.231, not 2.45
    one = page.selectbox(key="device").select("rank 1 device 1").run()
    assert {m.label: m.value for m in one.metric}["Span"] == "1.23 s"


def test_search_narrows_the_ranking(app, shown_store, run_of):
    page = app(shown_store, "operators", run=run_of("h100_owlv2"))
    page.text_input(key="q").set_value("SOFT").run()
    assert list(page.dataframe[0].value["name"]) == ["aten::softmax"]
    page.text_input(key="q").set_value("no such thing").run()
    assert "clear the search" in texts(page)


def test_several_runs_stand_side_by_side(app, shown_store, run_of):
    runs = [run_of("v100_resnet50_workers0"), run_of("v100_resnet50_workers4")]
    page = app(shown_store, "operators", run=runs)
    assert list(page.dataframe[1].value.columns) == ["name", *runs]
    assert page.dataframe[1].value["name"].iloc[0] == "bubble"


def test_a_name_in_the_url_opens_its_details(app, shown_store, run_of):
    page = app(shown_store, "operators", run=run_of("h100_owlv2"), name="aten::bmm")
    assert [tab.label for tab in page.tabs] == ["Kernels", "Shapes", "Calls"]


@pytest.fixture
def hosts(traces):
    """Two runs without a device: `mm` takes 30 µs in one call, and 40 in two."""
    calls = {"one": [op("mm", 0, 30)], "two": [op("mm", 0, 10), op("mm", 20, 30), op("add", 60, 5)]}
    return [add_whole(traces, name, events) for name, events in calls.items()]


def test_hosts_of_several_runs_are_told_apart(app, store, hosts):
    one, two = hosts
    page = app(store.path, "operators", run=hosts)
    first, second = (said.value for said in page.markdown if "Top" in said.value)
    assert one.rpartition("-")[2] in first
    assert "mm **30.0 µs** (100.0%)" in first
    assert two.rpartition("-")[2] in second
    assert "mm **40.0 µs** (88.9%) · add **5.00 µs** (11.1%)" in second
    (bars,) = charts(page)
    found = sorted(bars[["name", "run", "value"]].itertuples(index=False, name=None))
    assert found == sorted([("add", two, 5), ("mm", one, 30), ("mm", two, 40)])


def test_a_link_to_an_operator_of_a_host_opens_that_run(app, store, hosts):
    for run, calls in zip(hosts, (1, 2), strict=True):
        page = app(store.path, "operators", run=hosts, name="mm", of=f"{run} 0")
        assert len(page.dataframe[-1].value) == calls
