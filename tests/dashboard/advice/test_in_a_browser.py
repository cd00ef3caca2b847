"""Page Advice in Chromium."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.dashboard.browser import open_menu, visit, wait_for_query, wait_until_sent
from tests.dashboard.conftest import WORKERS0


def test_cards_lead_to_their_gaps_and_operators_and_fetch_their_evidence_when_opened(
    tab: Page, address: str, run_of: Callable[[str], str]
) -> None:
    here = f"{address}/advice?run={run_of(WORKERS0)}"
    visit(tab, here)
    card = tab.locator(".st-key-advice-dataloader")
    expect(card).to_contain_text("57.3 ms")
    expect(card).to_contain_text("32.7%")
    wait_until_sent(tab)
    card.get_by_role("link", name="page Bubbles").click()
    wait_for_query(tab, "cause", "dataloader")
    expect(tab.get_by_role("heading", name="Gaps: dataloader")).to_be_visible()
    wait_for_query(tab, "run", run_of(WORKERS0))

    visit(tab, here)
    card = tab.locator(".st-key-advice-float_matmul")
    wait_until_sent(tab)
    card.get_by_role("link").click()
    operator = "aten::cudnn_convolution_backward_weight"
    wait_for_query(tab, "name", operator)
    expect(tab.get_by_role("heading", name=operator)).to_be_visible()

    visit(tab, f"{here}&step=all")
    expect(tab.get_by_text("Other checks")).to_be_visible()  # the page is complete
    expect(card.locator(".grid")).to_have_count(0)
    wait_until_sent(tab)
    card.get_by_text("Evidence").click()
    expect(card.locator(".grid").locator("td", has_text="142 ms").first).to_be_attached()
    open_menu(tab, "float_matmuls")
    expect(tab.get_by_text("FROM float_matmuls")).to_be_visible()
