"""Each page in windows of four widths: nothing is cut off or overlaps."""

import pytest

from tests.dashboard.browser import wait_until_drawn
from tests.dashboard.conftest import CPU, OWLV2, WORKERS0
from tests.samples import TWO_RANKS

WIDTHS = (1600, 1280, 1100, 800)
LEAST_WIDTH = 200  # pixels of a chart
# Returns the texts of elements that overlap by more than a border.
OVERLAPPING = """() => {
    const main = document.querySelector('[data-testid="stMain"]');
    const seen = [...main.querySelectorAll('[data-testid="stElementContainer"]')]
        .filter((element) => !element.closest("details:not([open])"))
        .map((element) => [element, element.getBoundingClientRect()])
        .filter(([, box]) => box.width > 1 && box.height > 1);
    const found = [];
    for (const [one, a] of seen) for (const [other, b] of seen) {
        if (one === other || one.contains(other) || other.contains(one)) continue;
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (across > 2 && down > 2) {
            found.push([one, other].map((each) => each.innerText.slice(0, 40)).join(" | "));
        }
    }
    return found;
}"""
# Returns the texts of buttons, metrics and headings that are too narrow for their text.
CUT = """() => [...document.querySelectorAll(
        '[data-testid="stMain"] :is(h1, h3, button p, [data-testid="stMetricValue"])')]
    .filter((each) => each.clientWidth > 0 && each.scrollWidth > each.clientWidth + 1)
    .map((each) => each.innerText)"""
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


@pytest.mark.parametrize(("page", "names"), PAGES)
def test_a_page_fits_its_window(tab, address, run_of, page, names):
    query = "&".join(f"run={run_of(name)}" for name in names)
    tab.goto(f"{address}/{page}?{query}")
    for width in WIDTHS:
        tab.set_viewport_size({"width": width, "height": 1000})
        wait_until_drawn(tab)
        charts = tab.locator(CHARTS).all()
        boxes = [box for chart in charts if (box := chart.bounding_box())]
        assert all(box["width"] >= LEAST_WIDTH for box in boxes), (width, boxes)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert tab.evaluate(OVERLAPPING) == [], width
        assert tab.evaluate(CUT) == [], width
