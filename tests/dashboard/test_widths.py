"""Each page in windows of four widths: nothing is cut off or overlaps."""

from collections.abc import Callable

from playwright.sync_api import Page

from tests.dashboard.browser import assert_fits, visit
from tests.dashboard.conftest import CPU, OWLV2, WORKERS0
from tests.samples import TWO_RANKS

LEAST_WIDTH = 200  # pixels of a chart
CHARTS = "[data-testid=stVegaLiteChart], .js-plotly-plot, .lanes .plot, .steps .plot"
PAGES = (
    ("runs", [WORKERS0]),
    ("overview", [WORKERS0]),
    ("overview", [CPU]),
    ("operators", [OWLV2]),
    ("operators", [WORKERS0, OWLV2]),
    ("bubbles", [TWO_RANKS]),
    ("streams", [OWLV2]),
    ("modules", [OWLV2]),
    ("timeline", [OWLV2]),
    ("memory", [WORKERS0]),
    ("advice", [WORKERS0]),
    ("compare", [WORKERS0, "v100_resnet50_workers4"]),
    ("trends", []),
    ("sql", []),
)


def charts_are_wide(tab: Page) -> bool:
    boxes = [chart.bounding_box() for chart in tab.locator(CHARTS).all()]
    return all(box["width"] >= LEAST_WIDTH for box in boxes if box)


def test_pages_fit_their_windows(tab: Page, address: str, run_of: Callable[[str], str]) -> None:
    for page, names in PAGES:
        if names:
            visit(tab, f"{address}/{page}?{'&'.join(f'run={run_of(name)}' for name in names)}")
        else:
            tab.goto(f"{address}/{page}")  # without the runs of the page before
        assert_fits(tab, charts_are_wide)
