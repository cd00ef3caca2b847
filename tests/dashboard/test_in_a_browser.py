"""Features that all pages share, in Chromium."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

import ingest
from tests.dashboard.browser import cell, open_menu, tick, wait_for_query, wait_until_sent


def test_an_empty_store_shows_its_first_run_after_a_reload(
    tab: Page, serve: Callable[[Path], str], store: ingest.Store, samples: Path
) -> None:
    tab.goto(f"{serve(store.path)}/operators")
    expect(tab.get_by_text("ingest add run_dir/")).to_be_visible()
    labels = ingest.AddOptions(name="<script>document.title = 'stolen'</script>")
    store.add(samples / "traces" / "mi210_gpu_only.json.gz", labels)
    tab.reload()
    expect(tab.locator(".grid").first).to_be_visible()
    wait_until_sent(tab)
    tab.get_by_test_id("stSidebarNavLink").filter(has_text="Runs").click()
    expect(cell(tab, "<script>document.title = 'stolen'</script>")).to_be_attached()
    assert tab.title() != "stolen"


def test_a_menu_copies_the_link_to_the_selection(
    tab: Page, address: str, run_of: Callable[[str], str]
) -> None:
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.goto(f"{address}/operators?run={run_of('h100_owlv2')}")
    tick(tab, 1)
    wait_for_query(tab, "name", "aten::softmax")
    open_menu(tab, "ranking")
    tab.get_by_role("button", name="Copy the link to this page").click()
    expect(tab.get_by_role("button", name="Copied")).to_be_visible()
    tab.bring_to_front()  # only then it can read the clipboard
    assert tab.evaluate("navigator.clipboard.readText()") == tab.url
