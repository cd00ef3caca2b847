"""What a person sees and does on page Overview, in Chromium."""

from playwright.sync_api import expect

from tests.dashboard.browser import boxes_at_rest, query_of, wait_for_query, wait_until_drawn
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


def test_a_run_is_on_one_screen(tab, address, run_of):
    tab.set_viewport_size({"width": 1600, "height": 1000})
    tab.goto(f"{address}/overview?run={run_of(WORKERS)}")
    last = tab.get_by_text("All that was looked at")
    expect(last).to_be_visible()
    wait_until_drawn(tab)
    box = last.bounding_box()
    assert box
    assert box["y"] + box["height"] <= 1000


def test_the_dashboard_opens_with_the_run_of_a_name(tab, shown_store, run_of):
    with served(shown_store, run=WORKERS) as address:
        tab.goto(address)
        expect(tab.get_by_text("Step 6, the median").first).to_be_visible()
        assert query_of(tab)["run"] == [run_of(WORKERS)]
