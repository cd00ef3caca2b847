"""Page Memory in Chromium."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.builders.leaking import leaking
from tests.dashboard.browser import (
    MAX_BOXES,
    PLOT,
    SCHEMES,
    assert_fits_a_phone,
    boxes_at_rest,
    point_until,
    query_of,
    table,
    tick,
    visit,
    wait_for_query,
    wait_until_sent,
)

HACK = "window.hacked=1"
HARMFUL = (f"<img src=x onerror={HACK}>", f"[a](javascript:{HACK}) $x$ **b**", "<b>x</b> ${7*7}")


@pytest.fixture
def memory_address(serve: Callable[[Path], str], memory_store: Path) -> str:
    return serve(memory_store)


def curve(tab: Page) -> Locator:
    """Return the chart of the memory curve after the page is drawn."""
    wait_until_sent(tab)
    charts = tab.get_by_test_id("stVegaLiteChart")
    expect(charts.locator("canvas, svg").first).to_be_visible()
    expect(tab.get_by_test_id("stStatusWidget")).to_have_count(0)
    expect(tab.get_by_test_id("stSkeleton")).to_have_count(0)
    boxes_at_rest(tab, charts)
    charts.first.scroll_into_view_if_needed()
    return charts.first


def point(tab: Page, chart: Locator, across: float) -> None:
    """Move the pointer to a position in the chart; `across` is a fraction of its width."""
    box = chart.bounding_box()
    assert box
    tab.mouse.move(box["x"] + across * box["width"], box["y"] + 0.6 * box["height"], steps=4)


def heading(tab: Page) -> Locator:
    return tab.get_by_role("heading", name="What held the memory")


def test_the_peak_and_moments_down_to_a_stack(tab, memory_address, memory_run):
    """The page has a tooltip. Ticks show allocations and a stack, and a click picks a moment."""
    tab.goto(f"{memory_address}/memory?run={memory_run('train_ctx512')}")
    expect(tab.get_by_test_id("stMetric").first).to_contain_text("11.57 GiB")
    expect(table(tab).locator("td", has_text="model.py:39 forward")).to_be_attached()
    point_until(tab, curve(tab), [(x, 0.6) for x in (0.4, 0.45, 0.5)], "model.py:39 forward")
    expect(tab.locator("#vg-tooltip-element.visible")).to_contain_text("reserved")

    tick(tab, 1)
    wait_for_query(tab, "owner", "model.py:39 forward")
    expect(tab.get_by_text("Allocations of model.py:39 forward")).to_be_visible()
    tick(tab, 0, 1)
    wait_for_query(tab, "allocation")
    expect(tab.get_by_text("of 68 frames")).to_be_visible()

    expect(heading(tab)).to_contain_text("at the peak")
    box = curve(tab).bounding_box()
    tab.mouse.click(box["x"] + 0.8 * box["width"], box["y"] + 0.6 * box["height"])
    wait_for_query(tab, "at")
    expect(heading(tab)).to_contain_text("ms after the first action")
    wait_until_sent(tab)
    text = heading(tab).inner_text()
    tab.goto(tab.url)
    expect(heading(tab)).to_have_text(text)
    expect(tab.get_by_text("of 68 frames")).to_be_visible()
    wait_until_sent(tab)
    tab.get_by_role("button", name="End", exact=True).click()
    expect(heading(tab)).to_contain_text("at the end")
    expect(tab.get_by_text("6.36 GiB in use of 11.79 GiB reserved")).to_be_visible()


def assert_dragging_zooms(tab: Page, memory_address: str, run: str) -> None:
    visit(tab, f"{memory_address}/memory?run={run}&axis=order")
    expect(tab.get_by_text("22,331 actions from 0 to 22,331")).to_be_visible()
    chart = curve(tab)
    point(tab, chart, 0.4)
    tab.mouse.down()
    point(tab, chart, 0.6)
    tab.mouse.up()
    wait_for_query(tab, "mfrom")
    query = query_of(tab)
    since, until = int(query["mfrom"][0]), int(query["mto"][0])
    assert 4_000 < since < until < 18_000
    zoomed = f"{until - since:,} actions from {since:,} to {until:,}"
    expect(tab.get_by_text(zoomed)).to_be_visible()
    curve(tab)
    tab.get_by_role("button", name="All", exact=True).click()
    expect(tab.get_by_text("22,331 actions from 0 to 22,331")).to_be_visible()


def assert_two_runs_show_both_curves_and_their_difference(
    tab: Page, memory_address: str, *runs: str
) -> None:
    visit(tab, f"{memory_address}/memory?{urlencode([('run', run) for run in runs])}")
    expect(tab.get_by_role("heading", name="What changed")).to_be_visible()
    expect(tab.get_by_test_id("stVegaLiteChart").locator("canvas, svg").first).to_be_visible()
    expect(table(tab, 1).locator("td", has_text="peak reserved")).to_be_attached()


def test_an_allocation_has_a_tooltip_and_a_click_on_it_picks_the_moment(
    tab, memory_address, memory_run
):
    run = memory_run("full_history_annotations")
    tab.goto(f"{memory_address}/memory?run={run}&by=allocation")
    bands = [(0.5, share / 100) for share in range(70, 90, 2)]  # from the top down
    x, y = point_until(tab, curve(tab), bands, "147.28 MiB")
    tooltip = tab.locator("#vg-tooltip-element.visible")
    expect(tooltip).to_contain_text("147.28 MiB")
    expect(tooltip).to_contain_text("adam_forward.py:168 <listcomp> (your own)")
    tab.mouse.click(x, y)
    wait_for_query(tab, "at")
    assert 218 <= int(query_of(tab)["at"][0]) < 11_210  # while it lives
    expect(heading(tab)).to_contain_text("after the first action")


def test_names_of_functions_are_shown_literally(tab, serve, store, tmp_path):
    store.add(leaking(4, HARMFUL).write(tmp_path / "harm.pickle"))
    line = f"train.py:7 {HARMFUL[0]}"
    tab.goto(f"{serve(store.path)}/memory?{urlencode({'owner': line})}")
    chart = curve(tab)
    for across in (0.3, 0.5, 0.7):
        point_until(tab, chart, [(across, 0.6)], HARMFUL[0])
    expect(tab.get_by_text(f"Allocations of {line}")).to_be_visible()
    expect(tab.get_by_role("alert").first).to_contain_text(f"by train.py:7 {HARMFUL[2]};")
    for one in tab.get_by_role("tab").all():
        one.click()
    expect(tab.get_by_text(line).first).to_be_attached()
    assert tab.evaluate("window.hacked") is None
    assert tab.locator("a[href^='javascript']").count() == 0


def test_zoom_two_runs_and_the_flame_graph_of_a_moment_also_in_a_narrow_window(
    tab: Page, memory_address: str, memory_run: Callable[[str], str]
) -> None:
    runs = [memory_run(name) for name in ("train_ctx512", "train_ctx128")]
    assert_dragging_zooms(tab, memory_address, runs[0])
    assert_two_runs_show_both_curves_and_their_difference(tab, memory_address, *runs)
    for name in ("train_ctx512", "flux_eager_full"):
        visit(tab, f"{memory_address}/memory?run={memory_run(name)}")
        wait_until_sent(tab)
        expect(tab.locator(PLOT)).to_have_count(0)
        tab.get_by_text("Flame graph of the stacks").click()
        expect(tab.locator(PLOT).first).to_be_visible()
        assert tab.locator(PLOT).count() <= MAX_BOXES
    visit(tab, f"{memory_address}/memory?run={memory_run('full_history_annotations')}")
    curve(tab)
    assert_fits_a_phone(tab, *SCHEMES)
