"""Functions that read and use a page in Chromium."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import FloatRect, Locator, Page, expect

expect.set_options(timeout=20_000)

PLOT = ".js-plotly-plot .slice"  # a box of a flame graph
MAX_BOXES = 1_000

WIDTHS = (1600, 1280, 1100, 800)
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
# Changes the address as the Back button does, and resolves once the server has sent that page.
VISIT = """address => new Promise((sent) => {
    const app = document.querySelector('[data-testid="stApp"]');
    let isRunning = false;
    new MutationObserver((_, observer) => {
        const isAtRest = app.dataset.testScriptState === "notRunning";
        if (isRunning && isAtRest) {
            observer.disconnect();
            sent();
        }
        isRunning = !isAtRest;
    }).observe(app, { attributeFilter: ["data-test-script-state"] });
    history.pushState({}, "", address);
    dispatchEvent(new PopStateEvent("popstate"));
})"""


def visit(tab: Page, address: str) -> None:
    """Open an address. If the tab already shows the dashboard, only the page changes.

    This takes half the time that the browser takes to load the dashboard again. The page must keep
    the parameters of the address.
    """
    if tab.url.startswith("http"):
        wait_until_sent(tab)
        assert exceptions(tab) == []  # of the page before
        tab.evaluate(VISIT, address)
        wanted, found = parse_qs(urlsplit(address).query), query_of(tab)
        assert {key: found.get(key) for key in wanted} == wanted
    else:
        tab.goto(address)


def narrow(tab: Page, scheme: Any) -> None:
    """Make the tab as narrow as a phone, in a light or dark colour scheme."""
    tab.set_viewport_size({"width": 480, "height": 900})
    tab.emulate_media(color_scheme=scheme)


def exceptions(tab: Page) -> list[str]:
    """Return the exceptions that the page shows."""
    return tab.get_by_test_id("stException").all_inner_texts()


def assert_fits(tab: Page, *more: Callable[[Page], bool]) -> None:
    """Assert that nothing is cut off or overlaps in windows of four widths.

    `more` are other conditions that must be true at each width.
    """
    for width in WIDTHS:
        tab.set_viewport_size({"width": width, "height": 1000})
        wait_until_drawn(tab)
        where = f"{tab.url} in a window of {width} pixels"
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, where
        assert tab.evaluate(OVERLAPPING) == [], where
        assert tab.evaluate(CUT) == [], where
        assert all(condition(tab) for condition in more), where


BOXES = """elements => elements.map(element => {
    const {x, y, width, height} = element.getBoundingClientRect();
    return {x, y, width, height};
})"""


def query_of(tab: Page) -> dict[str, list[str]]:
    """Return the query parameters of the address."""
    return parse_qs(urlsplit(tab.url).query)


def table(tab: Page, number: int = 0) -> Locator:
    """Return a table of the page by its position."""
    return tab.locator(".grid").nth(number)


def cell(tab: Page, text: str, number: int = 0) -> Locator:
    return table(tab, number).locator("td", has_text=re.compile(f"^{re.escape(text)}$"))


def boxes_at_rest(tab: Page, charts: Locator) -> list[FloatRect]:
    """Return the positions of the charts, once none of them moves or grows."""
    before: list[FloatRect] = []
    while (boxes := charts.evaluate_all(BOXES)) != before:
        before = boxes
        tab.wait_for_timeout(300)
    return boxes


def search_box(tab: Page) -> Locator:
    return tab.get_by_role("textbox", name="Search")


def tick(tab: Page, row: int, number: int = 0) -> None:
    """Click a row of a table, once the server has sent all tables of the page."""
    wait_until_sent(tab)
    table(tab, number).locator("tbody tr").nth(row).click()


def drag(tab: Page, target: Locator, since: int, until: int) -> None:
    """Drag over an element between two positions, in pixels from its left edge."""
    target.scroll_into_view_if_needed()
    box = target.bounding_box()
    assert box
    y = box["y"] + box["height"] / 3
    tab.mouse.move(box["x"] + since, y)
    tab.mouse.down()
    tab.mouse.move(box["x"] + (since + until) / 2, y, steps=3)
    tab.mouse.move(box["x"] + until, y, steps=3)
    tab.mouse.up()


def open_menu(tab: Page, name: str) -> None:
    """Open the menu of a chart or table, once the server has sent the full page."""
    wait_until_sent(tab)
    tab.locator(f".st-key-menu-{name} button").first.click()


def wait_until_sent(tab: Page) -> None:
    app = tab.get_by_test_id("stApp")
    expect(app).to_have_attribute("data-test-script-state", "notRunning")


def wait_until_drawn(tab: Page) -> None:
    """Wait until the server has sent the page and its charts no longer move."""
    wait_until_sent(tab)
    boxes_at_rest(tab, tab.get_by_test_id("stVegaLiteChart"))


def wait_for_query(tab: Page, key: str, value: str | None = None) -> None:
    """Wait until the address has the parameter, with that value if one is given."""
    tab.wait_for_function(
        "([k, v]) => { const q = new URLSearchParams(location.search);"
        " return v === null ? q.has(k) : q.getAll(k).includes(v); }",
        arg=[key, value],
    )
