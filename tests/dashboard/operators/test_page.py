"""Page Operators, without a browser."""

from tests.dashboard.elements import texts
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
    assert "Span of 2 devices" in {m.label for m in page.metric}
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
