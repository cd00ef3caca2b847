"""Page Bubbles in Chromium."""

import re

from playwright.sync_api import expect

from tests.dashboard.browser import (
    cell,
    drag,
    point_until,
    query_of,
    tick,
    wait_for_query,
    wait_until_absent,
    wait_until_drawn,
    wait_until_sent,
    without_perfetto,
)


def test_bubbles_name_the_data_loader_and_the_link_reopens_a_cause_and_range(tab, address, run_of):
    tab.goto(f"{address}/bubbles?run={run_of('h100_owlv2')}&step=all")
    expect(tab.get_by_text("Mostly: dataloader")).to_be_visible()
    expect(tab.get_by_text("621 ms").first).to_be_visible()
    expect(cell(tab, "dataloader")).to_be_attached()
    expect(tab.locator(".lanes canvas")).to_have_count(1)
    plot = tab.locator(".lanes .plot")
    wait_until_drawn(tab)
    box = plot.bounding_box()
    lane_of_idle_time = (0.25, 110 / box["height"])
    point_until(tab, plot, [lane_of_idle_time], "idle: dataloader: 122 ms at 245")
    with tab.expect_download() as saved:
        tab.get_by_role("button", name="PNG").click()
    assert saved.value.path().read_bytes().startswith(b"\x89PNG")
    drag(tab, plot, 500, 560)
    wait_for_query(tab, "from")
    zoomed = tab.get_by_text(re.compile(r"from .* to .* of 1\.21 s"))
    expect(zoomed).not_to_contain_text("1.21 s from")
    wait_until_sent(tab)
    label = zoomed.inner_text()
    tick(tab, 1)
    wait_for_query(tab, "cause")
    cause = query_of(tab)["cause"][0]
    expect(tab.get_by_role("heading", name=f"Gaps: {cause}")).to_be_visible()
    wait_until_sent(tab)
    tab.goto(tab.url)
    expect(tab.get_by_text(label)).to_be_visible()
    expect(tab.get_by_role("heading", name=f"Gaps: {cause}")).to_be_visible()
    wait_until_sent(tab)
    tab.get_by_role("button", name="All", exact=True).click()
    expect(tab.get_by_text("1.21 s from 0 µs to 1.21 s of 1.21 s")).to_be_visible()


def test_a_ticked_gap_is_on_screen_and_in_the_address(tab, address, run_of):
    tab.goto(f"{address}/bubbles?run={run_of('h100_owlv2')}&cause=dataloader")
    expect(tab.get_by_role("heading", name="What the host was doing")).to_be_visible()
    wait_until_drawn(tab)
    tab.locator(".grid").nth(1).scroll_into_view_if_needed()
    tick(tab, 0, 1)
    wait_for_query(tab, "gap")
    gap = tab.get_by_role("heading", name="A gap of 129 ms")
    expect(gap).to_be_visible()
    whole = tab.get_by_test_id("stCode").filter(has_text="_SingleProcessDataLoaderIter.__next__")
    expect(whole).to_be_visible()
    expect(tab.get_by_text("Zoomed in: 193 ms")).to_be_in_viewport()
    wait_until_sent(tab)
    without_perfetto(tab)
    tab.get_by_role("link", name="Show in the timeline").click()
    tab.wait_for_url("**/timeline?*", wait_until="commit")
    wait_until_sent(tab)
    tab.go_back()
    expect(gap).to_be_visible()
    expect(tab.get_by_text("Zoomed in: 193 ms")).to_be_visible()
    wait_until_sent(tab)
    tab.goto(tab.url)
    expect(gap).to_be_visible()
    expect(tab.get_by_text("Zoomed in: 193 ms")).to_be_visible()
    tick(tab, 0, 1)
    expect(gap).to_be_hidden()
    wait_until_absent(tab, "gap", "from", "to")
