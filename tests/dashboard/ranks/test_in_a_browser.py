"""Page Ranks in Chromium."""

from playwright.sync_api import expect

from tests.dashboard.browser import (
    visit,
    wait_for_query,
    wait_until_drawn,
    wait_until_sent,
    without_perfetto,
)


def drawn(tab, serve, ranks_store, ranks_run):
    without_perfetto(tab)
    visit(tab, f"{serve(ranks_store)}/ranks?run={ranks_run['late']}")
    wait_until_sent(tab)
    wait_until_drawn(tab)
    return tab.get_by_test_id("stVegaLiteChart")


def assert_shown(tab, rank):
    """Assert that page Timeline shows a rank: it says how to export it."""
    tab.wait_for_url("**/timeline?*")
    expect(tab.get_by_text(f"--rank {rank}")).to_be_visible()


def test_a_cell_opens_the_timeline_of_its_rank(tab, serve, ranks_store, ranks_run):
    matrix = drawn(tab, serve, ranks_store, ranks_run).first
    box = matrix.bounding_box()
    # The first row has the straggler.
    tab.mouse.click(box["x"] + box["width"] / 2, box["y"] + 48)
    assert_shown(tab, 2)
    wait_for_query(tab, "step")


def test_a_rank_and_a_collective_open_the_timeline(tab, serve, ranks_store, ranks_run):
    drawn(tab, serve, ranks_store, ranks_run)
    tab.locator(".grid").nth(1).locator("tbody tr").nth(1).click()
    assert_shown(tab, 3)
    drawn(tab, serve, ranks_store, ranks_run)
    tab.locator(".grid").nth(2).locator("tbody tr").first.click()
    tab.wait_for_url("**/timeline?*")
    ranks = tab.get_by_role("combobox", name="Ranks")
    expect(ranks).to_have_value("All 4 ranks")  # those of its process group
    wait_for_query(tab, "event")


def test_a_point_of_lateness_picks_its_step(tab, serve, ranks_store, ranks_run):
    lateness = drawn(tab, serve, ranks_store, ranks_run).nth(1)
    lateness.scroll_into_view_if_needed()
    box = lateness.bounding_box()
    tab.mouse.click(box["x"] + box["width"] - 12, box["y"] + 60)
    wait_for_query(tab, "step", "7")
    expect(tab.get_by_text("This is about the whole recording.")).to_be_visible()
