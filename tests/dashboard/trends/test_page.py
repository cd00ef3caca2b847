"""Page Trends, without a browser and in Chromium, with a series whose change is known."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import ingest
from dashboard.drawing import formatting
from dashboard.trends import small_multiples
from ingest import AddOptions
from tests.conftest import Traces
from tests.dashboard.browser import (
    boxes_at_rest,
    visit,
    wait_for_query,
    wait_until_drawn,
    wait_until_sent,
)
from tests.dashboard.elements import points, series_charts, tables, texts

HOUR_NS = 3_600_000_000_000
FIRST_NS = 1_700_000_000_000_000_000
STEPS_US = [1000, 1010, 990, 1000, 1000, 800, 810, 790, 800]
CHANGED = 5  # the first run that is faster


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Traces:
    """Nine runs of one model, the last four faster, and an eager and a compiled run of another."""
    directory = tmp_path_factory.mktemp("trends")
    traces = Traces(directory, ingest.Store(directory / "store"))

    def add(place: int, name: str, step_us: int, model: str, mode: str) -> None:
        ops = [
            {"name": "aten::mm", "cat": "cpu_op", "ts": at, "dur": step_us // 2}
            for at in (0, step_us // 2)
        ]
        step = {"name": "ProfilerStep#1", "cat": "user_annotation", "ts": 0, "dur": step_us}
        events = [{"ph": "X", "pid": 1, "tid": 1, **each} for each in (step, *ops)]
        file = traces.write(events, name, baseTimeNanoseconds=FIRST_NS + place * HOUR_NS)
        tags = {"branch": "main" if place % 2 else "dev"}
        traces.store.add(file, AddOptions(model=model, mode=mode, tags=tags))

    for place, step_us in enumerate(STEPS_US):
        add(place, f"flux{place}", step_us, "flux", "eager")
    add(3, "bert0", 500, "bert", "eager")
    add(4, "bert1", 300, "bert", "compiled")
    return traces


@pytest.fixture
def run_named(series: Traces) -> Callable[[str], str]:
    return ingest.Store(series.store.path).find


def metrics(page) -> dict[str, str]:
    return {metric.label: metric.value for metric in page.metric}


def test_a_change_is_shown_with_the_medians_before_and_after(app, series, run_named):
    page = app(series.store.path, "trends", metric="wall", all_models="true")
    assert metrics(page) == {
        "Runs": "11",
        "Series": "3",
        "Change points": "1",
        "Latest change: wall time": "800 µs",
        "Last run: wall time": "800 µs",
        # Series of one run are numbers.
        "bert, eager": "500 µs",
        "bert, compiled": "300 µs",
    }
    (last,) = (metric for metric in page.metric if metric.label.startswith("Last run"))
    assert last.help.startswith(formatting.literal(run_named("flux8")))
    assert last.delta == "-1.2%"  # 800 against the median of 1000, 1000, 800, 810 and 790
    (changes,) = tables(page)
    assert changes[["run_id", "series", "metric", "medians_from_to"]].to_numpy().tolist() == [
        [run_named(f"flux{CHANGED}"), "flux, eager", "wall time", "1.00 ms → 800 µs"]
    ]
    assert changes["change_percent"].tolist() == [-20]


def test_it_starts_with_the_model_of_the_most_runs(app, series):
    page = app(series.store.path, "trends", metric="wall")
    assert metrics(page)["Runs"] == "9"
    assert "Shown: **flux**, the model with the most runs (9 runs)" in texts(page)
    page.toggle(key="all_models").set_value(True)
    assert metrics(page.run())["Runs"] == "11"


def test_a_link_to_a_run_starts_with_its_model(app, series, run_named):
    page = app(series.store.path, "trends", metric="wall", at=run_named("bert0"))
    assert "Shown: **bert**, the model of the run below (2 runs)" in texts(page)
    assert "against" in {box.key for box in page.selectbox}


def test_picked_runs_stand_out_in_their_series(app, series, run_named):
    picked = [run_named("bert1"), run_named("flux2")]
    page = app(series.store.path, "trends", metric="wall", run=picked)
    assert metrics(page)["Series"] == "2"
    (flux,) = series_charts(page)
    assert points(flux)["run number"].to_list() == [str(number) for number in range(1, 10)]
    assert points(flux).query("is_picked")["run_id"].to_list() == picked[1:]
    page = app(series.store.path, "trends", metric="wall", run=picked, all_models="true")
    assert metrics(page)["Series"] == "3"
    marked = [
        run for chart in series_charts(page) for run in points(chart).query("is_picked")["run_id"]
    ]
    assert marked == picked[1:]


def test_the_only_run_of_a_series_is_a_number_that_opens_it(app, series, run_named):
    run = run_named("bert1")
    page = app(series.store.path, "trends", metric="wall", run=run)
    assert not series_charts(page)
    assert metrics(page)["bert, compiled"] == "300 µs"
    next(each for each in page.button if each.label == formatting.literal(run)).click().run()
    assert page.query_params["at"] == run
    assert "Close" in [each.label for each in page.button]


def test_a_removed_run_in_the_address_is_named(app, series):
    page = app(series.store.path, "trends", metric="wall", at="removed")
    assert "There is no run **removed** in this store" in page.warning[0].value


def test_a_run_without_a_known_start_has_no_date(app, traces):
    for name, length in (("first", 10), ("second", 11)):
        step = {"name": "ProfilerStep#1", "cat": "user_annotation", "ts": 0, "dur": length}
        op = {"name": "aten::mm", "cat": "cpu_op", "ts": 0, "dur": length}
        events = [{"ph": "X", "pid": 1, "tid": 1, **each} for each in (step, op)]
        traces.store.add(traces.write(events, name), AddOptions(model="net"))
    (chart,) = series_charts(app(traces.store.path, "trends", metric="wall"))
    assert list(points(chart)["when"]) == [formatting.NONE] * 2
    page = app(traces.store.path, "trends", metric="wall", x="time")
    assert "Not shown: 2 runs without a recorded start." in texts(page)
    assert "unknown in these runs" not in texts(page)
    assert not page.exception


def test_a_value_that_dwarfs_the_others_makes_its_chart_logarithmic(app, traces):
    for place, length in enumerate((100, 110, 90, 5_000)):
        step = {"name": "ProfilerStep#1", "cat": "user_annotation", "ts": 0, "dur": length}
        op = {"name": "aten::mm", "cat": "cpu_op", "ts": 0, "dur": length}
        events = [{"ph": "X", "pid": 1, "tid": 1, **each} for each in (step, op)]
        traces.store.add(traces.write(events, f"run{place}"), AddOptions(model="net"))
    page = app(traces.store.path, "trends", metric="wall")
    (chart,) = series_charts(page)
    assert chart["y"]["isLog"]


def test_the_x_axis_is_the_run_number_or_time(app, series):
    query = {"metric": "wall", "model": "flux", "tagged": "branch=main"}
    (by_number,) = series_charts(app(series.store.path, "trends", **query))
    assert by_number["at"] == [2, 4, 6, 8]  # of the nine runs of the series
    (by_time,) = series_charts(app(series.store.path, "trends", x="time", **query))
    hours = [(at * 1e6 - FIRST_NS) / HOUR_NS for at in by_time["at"]]
    assert hours == pytest.approx([1, 3, 5, 7])


def test_a_log_scale_counts_the_values_that_it_cannot_show(app, series):
    page = app(series.store.path, "trends", metric=["wall", "idle"], model="flux", log="true")
    (wall,) = series_charts(page)
    assert wall["y"]["isLog"]
    # The operators fill each step.
    assert "flux, eager: no value above 0 for a log scale" in texts(page)
    assert "Not shown: 9 points of 0 or less" in texts(page)


def test_only_series_with_the_most_runs_are_drawn_if_there_are_many(app, series, monkeypatch):
    monkeypatch.setattr(small_multiples, "MAX_SERIES", 2)
    monkeypatch.setattr(small_multiples, "MAX_CHARTS", 3)
    page = app(series.store.path, "trends", metric=["wall", "busy"], all_models="true")
    assert "Charts show 2 of 3 series" in texts(page)
    assert [len(chart["runs"]) for chart in series_charts(page)] == [9]
    assert [each.label for each in page.expander] == ["busy: 2 charts"]  # drawn when opened


def test_filters_are_in_the_address(app, series):
    for query, runs in (
        ({"model": "flux"}, "9"),
        ({"mode": "compiled"}, "1"),
        ({"tagged": "branch=main"}, "5"),
        ({"model": "flux", "tagged": "branch=dev"}, "5"),
    ):
        assert metrics(app(series.store.path, "trends", metric="wall", **query))["Runs"] == runs
    page = app(series.store.path, "trends", model="bert", mode="eager", tagged="branch=dev")
    assert "Remove a filter" in texts(page)


def test_each_metric_has_a_chart(app, series):
    page = app(series.store.path, "trends", metric=["wall", "busy", "idle"])
    assert [len(chart["runs"]) for chart in series_charts(page)] == [9, 9, 9]
    assert page.multiselect(key="metric").value == ["wall", "busy", "idle"]


def test_a_run_is_compared_with_the_previous_one(app, series, run_named):
    page = app(series.store.path, "trends", metric="wall", at=run_named(f"flux{CHANGED}"))
    (against,) = (m for m in page.metric if m.label == "wall time")
    assert (against.value, against.delta) == ("800 µs", "-20.0% from the previous run")
    assert run_named(f"flux{CHANGED - 1}") in page.selectbox(key="against").options


def test_runs_without_a_model_show_how_to_form_a_series(app, shown_store):
    page = app(shown_store, "trends")
    assert "ingest add --model" in texts(page)
    assert metrics(page)["Change points"] == "0"


def test_a_series_that_splits_by_device_says_so(app, traces):
    step = {"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 9, "cat": "cpu_op", "name": "op"}
    for device in ("H100", "H200"):
        file = traces.write([step], device, deviceProperties=[{"id": 0, "name": device}])
        traces.store.add(file, AddOptions(model="flux"))
    page = app(traces.store.path, "trends", metric="wall")
    assert "**flux** ran on 2 devices. Each device has a separate series" in texts(page)


def test_the_page_asks_for_a_metric(app, series):
    page = app(series.store.path, "trends")
    page.multiselect(key="metric").set_value([])
    assert "Pick a metric" in texts(page.run())


def click_chart(tab: Page, across: float) -> None:
    """Click the first chart, at a position relative to its width."""
    chart = tab.locator(".series svg").first
    expect(chart).to_be_visible()
    wait_until_drawn(tab)
    box = chart.bounding_box()
    assert box
    tab.mouse.click(box["x"] + across * box["width"], box["y"] + box["height"] / 2)


def test_a_click_opens_the_run_and_leads_to_comparisons(
    tab: Page, series: Traces, serve: Callable[[Path], str], run_named: Callable[[str], str]
) -> None:
    address = f"{serve(series.store.path)}/trends?metric=wall&model=flux"
    tab.goto(address)
    click_chart(tab, 0.98)
    wait_for_query(tab, "at", run_named("flux8"))
    card = tab.locator(".st-key-trend-run")
    expect(card).to_contain_text(run_named("flux8"))
    expect(card).to_contain_text("800 µs")
    wait_until_sent(tab)
    card.get_by_role("link", name="Compare with the previous run").click()
    wait_for_query(tab, "other", run_named("flux8"))
    wait_for_query(tab, "base", run_named("flux7"))

    link = f"{address}&at={run_named('flux8')}&against={run_named('flux0')}"
    tab.goto(link)  # reopens it, with another base
    expect(card).to_contain_text(run_named("flux8"))
    wait_until_sent(tab)
    card.get_by_role("link", name="Compare with this base").click()
    wait_for_query(tab, "other", run_named("flux8"))
    wait_for_query(tab, "base", run_named("flux0"))
    visit(tab, link)
    wait_until_sent(tab)
    tab.get_by_role("button", name="Close").click()
    expect(card).to_have_count(0)


def test_charts_are_wide_enough_to_read(
    tab: Page, series: Traces, serve: Callable[[Path], str]
) -> None:
    tab.goto(
        f"{serve(series.store.path)}/trends?metric=wall&metric=busy&metric=idle&all_models=true"
    )
    charts = tab.locator(".series svg")
    expect(charts).to_have_count(3)
    for width in (800, 1100, 1600):
        tab.set_viewport_size({"width": width, "height": 1500})
        wait_until_drawn(tab)
        widths = {round(box["width"]) for box in boxes_at_rest(tab, charts)}
        assert len(widths) == 1
        assert min(widths) >= 200
        charts.first.get_by_text("flux, eager").hover()
        expect(tab.locator(".hint:visible")).to_have_text("flux, eager")


def test_arrow_keys_pick_a_run_and_a_button_saves_the_chart(
    tab: Page, series: Traces, serve: Callable[[Path], str], run_named: Callable[[str], str]
) -> None:
    tab.goto(f"{serve(series.store.path)}/trends?metric=wall&model=flux")
    wait_until_sent(tab)
    wait_until_drawn(tab)
    chart = tab.locator(".series svg")
    with tab.expect_download() as saved:
        tab.get_by_role("button", name="PNG").click()
    assert saved.value.suggested_filename == "wall time of flux, eager.png"
    assert saved.value.path().read_bytes().startswith(b"\x89PNG")
    chart.focus()
    for number in (0, 1):
        chart.press("ArrowRight")
        expect(tab.locator(".hint:visible")).to_contain_text(f"run: {run_named(f'flux{number}')}")
    chart.press("Enter")
    wait_for_query(tab, "at", run_named("flux1"))
    expect(chart.locator(".opened")).to_have_count(1)
    chart.page.keyboard.press("ArrowLeft")  # the chart keeps the focus
    expect(tab.locator(".hint:visible")).to_contain_text(f"run: {run_named('flux0')}")
    expect(chart).to_have_attribute("aria-valuetext", re.compile(run_named("flux0")))
    wait_until_sent(tab)
    tab.keyboard.press("Space")
    wait_for_query(tab, "at", run_named("flux0"))
