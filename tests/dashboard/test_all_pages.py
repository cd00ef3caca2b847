"""One walk over all pages, with one load for each store.

On each page, nothing is cut off or overlaps in windows of four widths, a phone shows its width in
both colour schemes, and there is no exception.
"""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

import ingest
from tests.dashboard.browser import (
    SCHEMES,
    assert_fits,
    assert_fits_a_phone,
    exceptions,
    visit,
    wait_until_sent,
    without_perfetto,
)
from tests.dashboard.conftest import CPU, NETWORK, OWLV2, WORKERS0, WORKERS4
from tests.helpers.samples import TWO_RANKS

LEAST_WIDTH = 200  # pixels of a chart
WIDE_TABLES = ".grid, [data-testid=stDataFrame]"
SHOWN = (
    ("sql", []),  # without runs, which later pages keep
    ("trends", []),
    ("runs", [WORKERS0]),
    ("overview", [WORKERS0]),
    ("overview", [CPU]),
    ("operators", [OWLV2]),
    ("operators", [WORKERS0, OWLV2]),
    ("kernels", [OWLV2]),
    ("roofline", [OWLV2]),
    ("roofline", [WORKERS0, OWLV2]),
    ("roofline", [CPU]),
    ("kernels", [WORKERS0, OWLV2]),
    ("bubbles", [TWO_RANKS]),
    ("streams", [OWLV2]),
    ("ranks", [TWO_RANKS]),
    ("ranks", [OWLV2]),
    ("modules", [OWLV2]),
    ("timeline", [OWLV2]),
    ("memory", [WORKERS0]),
    ("advice", [WORKERS0]),
    ("compare", [WORKERS0, WORKERS4]),
)
WITH_TABLES = {"runs", "bubbles", "operators", "kernels", "roofline", "sql"}
OF_A_NETWORK = ("operators", "memory", "overview", "bubbles", "timeline")


def look(tab: Page, least_chart: int = 0) -> None:
    """Assert that the page fits all windows, in the scheme of the page before and in the other."""
    wait_until_sent(tab)
    assert_fits(tab, least_chart)
    is_dark = tab.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert_fits_a_phone(tab, *(reversed(SCHEMES) if is_dark else SCHEMES))
    assert exceptions(tab) == []


def test_pages_fit_their_windows_in_both_colour_schemes(
    tab: Page, address: str, run_of: Callable[[str], str]
) -> None:
    without_perfetto(tab)
    for page, names in SHOWN:
        visit(tab, f"{address}/{page}?{'&'.join(f'run={run_of(name)}' for name in names)}")
        look(tab, LEAST_WIDTH)
        if page in WITH_TABLES:
            expect(tab.locator(WIDE_TABLES), page).not_to_have_count(0)


def test_pages_of_a_network_fit_their_windows(
    tab: Page, serve: Callable[[Path], str], network_store: Path
) -> None:
    without_perfetto(tab)
    address, run = serve(network_store), ingest.Store(network_store).find(NETWORK)
    for page in OF_A_NETWORK:
        visit(tab, f"{address}/{page}?run={run}")
        look(tab)
