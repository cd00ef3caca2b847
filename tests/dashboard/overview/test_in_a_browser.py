"""Page Overview in Chromium."""

from playwright.sync_api import expect

from tests.dashboard.browser import (
    query_of,
    tick,
    wait_for_query,
    wait_until_drawn,
    wait_until_sent,
)

WORKERS = "v100_resnet50_workers0"


def test_a_link_opens_a_run_on_one_screen_and_clicks_pick_steps_and_a_kernel(tab, address, run_of):
    run = run_of(WORKERS)
    tab.set_viewport_size({"width": 1600, "height": 1000})
    tab.goto(f"{address}/?run={run}")
    expect(tab.get_by_text("Step 6, the median").first).to_be_visible()
    last = tab.get_by_text("All checks")
    expect(last).to_be_visible()
    wait_until_drawn(tab)
    expect(last).to_be_in_viewport(ratio=1)

    steps = tab.locator(".steps .bar")
    steps.last.click()
    wait_for_query(tab, "step", "10")
    caption = tab.get_by_test_id("stCaptionContainer")
    expect(caption.get_by_text("Step 10")).to_be_visible()
    assert query_of(tab)["run"] == [run]
    wait_until_sent(tab)
    steps.nth(1).drag_to(steps.nth(3))
    wait_for_query(tab, "step", "6-8")
    expect(caption.get_by_text("Steps 6 to 8")).to_be_visible()
    wait_until_sent(tab)
    steps.nth(4).focus()
    tab.keyboard.press("ArrowLeft")
    tab.keyboard.press("Enter")
    wait_for_query(tab, "step", "8")

    expect(caption.get_by_text("Step 8")).to_be_visible()
    tick(tab, 0, 1)
    wait_for_query(tab, "level", "kernel")
    expect(tab.get_by_role("heading", name="dgrad_engine")).to_be_visible()
    assert query_of(tab)["step"] == ["8"]
