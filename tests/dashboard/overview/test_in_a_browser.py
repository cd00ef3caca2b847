"""What a person sees and does on page Overview, in Chromium."""

import pytest
from playwright.sync_api import expect

from tests.dashboard.browser import boxes_at_rest, query_of, wait_for_query
from tests.dashboard.server import served

WORKERS = "v100_resnet50_workers0"


def test_a_link_to_a_run_opens_it_and_a_click_picks_a_step(tab, address, run_of):
    run = run_of(WORKERS)
    tab.goto(f"{address}/?run={run}")
    expect(tab.get_by_text("Step 6, the median").first).to_be_visible()
    steps = tab.get_by_test_id("stVegaLiteChart").first
    expect(steps.locator("canvas, svg").first).to_be_visible()
    box = boxes_at_rest(tab, steps)[0]
    assert box
    tab.mouse.click(box["x"] + box["width"] - 50, box["y"] + 60)  # the last of six
    wait_for_query(tab, "step", "10")
    expect(tab.get_by_test_id("stCaptionContainer").get_by_text("Step 10")).to_be_visible()
    assert query_of(tab)["run"] == [run]


@pytest.mark.parametrize("width", [1600, 1280, 1100, 800])
def test_nothing_is_too_narrow(width, tab, address, run_of):
    tab.set_viewport_size({"width": width, "height": 1000})
    tab.goto(f"{address}/overview?run={run_of(WORKERS)}")
    expect(tab.get_by_text("All that was looked at")).to_be_visible()
    charts = tab.get_by_test_id("stVegaLiteChart")
    expect(charts).to_have_count(2)
    boxes = boxes_at_rest(tab, charts)
    assert all(box and box["width"] >= 200 for box in boxes), boxes
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    if width == 1600:  # all on one screen
        last = tab.get_by_text("All that was looked at").bounding_box()
        assert last
        assert last["y"] + last["height"] <= 1000


def test_the_dashboard_opens_with_the_run_of_a_name(tab, shown_store, run_of):
    with served(shown_store, run=WORKERS) as address:
        tab.goto(address)
        expect(tab.get_by_text("Step 6, the median").first).to_be_visible()
        assert query_of(tab)["run"] == [run_of(WORKERS)]
