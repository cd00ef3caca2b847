"""Functions that read and use a page in Chromium."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import FloatRect, Locator, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

PATIENCE_MS = 120_000
expect.set_options(timeout=PATIENCE_MS)

PLOT = ".icicle .box"  # a box of a flame graph
MAX_BOXES = 1_000

WIDTHS = (1600, 1280, 1100, 800)
PHONE = 480
SCHEMES = ("light", "dark")
# Finds elements, also in the shadow roots of components.
ALL = """const all = (selector, root = document) => [
    ...root.querySelectorAll(selector),
    ...[...root.querySelectorAll("*")].flatMap(
        (each) => each.shadowRoot ? all(selector, each.shadowRoot) : []),
];"""
CHARTS = "[data-testid=stVegaLiteChart], .lanes .plot, .series"
# Whether each chart has been drawn.
ARE_DRAWN = f"""(charts) => {{
    {ALL}
    const seen = all(charts).filter((each) => each.checkVisibility());
    return seen.every((each) => each.querySelector("canvas, svg"));
}}"""
# Returns what does not fit: a page wider than its window, elements that overlap by more than a
# border, buttons, metrics and headings that are too narrow for their text, and narrow charts.
MISFITS = """(leastChart) => {
    /* all */
    const main = document.querySelector('[data-testid="stMain"]');
    const found = [];
    const wide = document.documentElement.scrollWidth;
    if (wide > window.innerWidth) found.push(`${wide} pixels wide`);
    const seen = [...main.querySelectorAll('[data-testid="stElementContainer"]')]
        .filter((element) => !element.closest("details:not([open])"))
        .map((element) => [element, element.getBoundingClientRect()])
        .filter(([, box]) => box.width > 1 && box.height > 1);
    for (const [one, a] of seen) for (const [other, b] of seen) {
        if (one === other || one.contains(other) || other.contains(one)) continue;
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (across > 2 && down > 2) {
            found.push([one, other].map((each) => each.innerText.slice(0, 40)).join(" | "));
        }
    }
    const texts = main.querySelectorAll('h1, h3, button p, [data-testid="stMetricValue"]');
    for (const each of texts) {
        const isCut = each.clientWidth > 0 && each.scrollWidth > each.clientWidth + 1;
        if (isCut) found.push(`cut: ${each.innerText}`);
    }
    const charts =
        "[data-testid=stVegaLiteChart], .icicle, .lanes .plot, .steps .plot, .series";
    for (const each of all(charts)) {
        const { width } = each.getBoundingClientRect();
        const isNarrow = each.getClientRects().length && width < leastChart;
        if (isNarrow) found.push(`a chart of ${width} pixels`);
    }
    return found;
}""".replace("/* all */", ALL)
# Returns whether the page is as wide as its window, and in the colour scheme.
IS_IN_SCHEME = """(scheme) => {
    const app = document.querySelector('[data-testid="stApp"]');
    const [red, green, blue] = getComputedStyle(app).backgroundColor.match(/[0-9.]+/g).map(Number);
    return document.documentElement.scrollWidth <= window.innerWidth
        && (red + green + blue < 3 * 128) === (scheme === "dark");
}"""
# Whether the server has sent the whole page. Before the first run of the page's script, the state
# is "notRunning", too, but there is no title. Streamlit draws widgets later than their page. If the
# page changes before the run picker is drawn, Streamlit removes the runs from the address.
IS_SENT = """() => {
    const app = document.querySelector('[data-testid="stApp"]');
    return app?.dataset.testScriptState === "notRunning"
        && document.querySelector('[data-testid="stMain"] h1') !== null
        && document.querySelector('[data-testid="stSidebar"] [data-testid="stMultiSelect"]')
            !== null;
}"""
# Resolves once the page has handled what happened before, and has drawn it.
FRAMES = """() => new Promise((drawn) =>
    setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(drawn)), 0))"""
REST_MS = 200
SHORT_MS = 80  # if what follows waits for the layout itself
REST = f"""(ms) => new Promise((passed) => setTimeout(passed, ms)).then({FRAMES})"""
# Resolves once an image that does not exist has failed, and so have those that were there before.
AFTER_IMAGES = """() => new Promise((failed) => {
    const image = new Image();
    image.onerror = failed;
    image.src = `x?${crypto.randomUUID()}`;
})"""
# Stops animations, which take a ninth of the browser's time. Nothing on a page waits for them.
STILL = """addEventListener("DOMContentLoaded", () => {
    const style = document.createElement("style");
    style.textContent = "*, ::before, ::after { animation: none !important; }";
    document.head.append(style);
})"""
ROUNDS = 200  # how often the pointer goes over a chart that has no tooltip yet
# Changes the address as the Back button does, and resolves once the server has sent that page. A
# browser that is busy meanwhile may never show that the page's script runs: then it is at rest.
VISIT = """address => new Promise((sent) => {
    const app = document.querySelector('[data-testid="stApp"]');
    let isRunning = false;
    const observer = new MutationObserver(() => {
        const isAtRest = app.dataset.testScriptState === "notRunning";
        if (isRunning && isAtRest) finish();
        isRunning = !isAtRest;
    });
    const finish = () => {
        observer.disconnect();
        sent();
    };
    observer.observe(app, { attributeFilter: ["data-test-script-state"] });
    setTimeout(() => isRunning || finish(), 10_000);
    history.pushState({}, "", address);
    dispatchEvent(new PopStateEvent("popstate"));
})"""


def change(tab: Page, address: str) -> None:
    """Change the address in a tab that shows the dashboard, and wait for that page."""
    wait_until_sent(tab)
    assert exceptions(tab) == []  # of the page before
    tab.evaluate(VISIT, address)


def visit(tab: Page, address: str) -> None:
    """Open an address. If the tab already shows the dashboard, only the page changes.

    This takes half the time that the browser takes to load the dashboard again. The page must keep
    the parameters of the address.
    """
    if tab.url.startswith("http"):
        change(tab, address)
        wanted, found = parse_qs(urlsplit(address).query), query_of(tab)
        kept = {key: found.get(key) for key in wanted}
        assert kept == wanted, f"{address} became {tab.url}"
    else:
        tab.goto(address)


def exceptions(tab: Page) -> list[str]:
    """Return the exceptions that the page shows."""
    return tab.get_by_test_id("stException").all_inner_texts()


def assert_fits(tab: Page, least_chart: int = 0) -> None:
    """Assert that nothing is cut off or overlaps in windows of four widths.

    Charts must have at least `least_chart` pixels.
    """
    for width in WIDTHS:
        tab.set_viewport_size({"width": width, "height": 1000})
        wait_until_drawn(tab, SHORT_MS)
        try:
            tab.wait_for_function(f"least => ({MISFITS})(least).length === 0", arg=least_chart)
        except PlaywrightTimeout:
            found = tab.evaluate(MISFITS, least_chart)
            raise AssertionError(f"{tab.url} in a window of {width} pixels: {found}") from None


def assert_fits_a_phone(tab: Page, *schemes: Any) -> None:
    """Assert that the page is not wider than a phone, in these colour schemes one by one."""
    tab.set_viewport_size({"width": PHONE, "height": 900})
    for scheme in schemes:
        tab.emulate_media(color_scheme=scheme)
        wait_until_drawn(tab, SHORT_MS)
        tab.wait_for_function(IS_IN_SCHEME, arg=scheme)


BOXES = """elements => elements.map(element => {
    const {x, y, width, height} = element.getBoundingClientRect();
    return {x, y, width, height};
})"""


def query_of(tab: Page) -> dict[str, list[str]]:
    """Return the query parameters of the address."""
    return parse_qs(tab.evaluate("location.search.slice(1)"))


def table(tab: Page, number: int = 0) -> Locator:
    """Return a table of the page by its position."""
    return tab.locator(".grid").nth(number)


def cell(tab: Page, text: str, number: int = 0) -> Locator:
    return table(tab, number).locator("td", has_text=re.compile(f"^{re.escape(text)}$"))


def boxes_at_rest(tab: Page, charts: Locator, rest_ms: int = REST_MS) -> list[FloatRect]:
    """Return the positions of the charts, once none of them has moved or grown for a while."""
    before: list[FloatRect] = []
    while (boxes := charts.evaluate_all(BOXES)) != before:
        before = boxes
        tab.evaluate(REST, rest_ms)
    return boxes


def point_until(
    tab: Page, target: Locator, places: Sequence[tuple[float, float]], text: str
) -> tuple[float, float]:
    """Move the pointer over an element until a tooltip has the text. Return its position.

    `places` are fractions of the element's width and height. The pointer goes over them again and
    again, because a chart may be drawn later than its element.
    """
    target.scroll_into_view_if_needed()
    tooltips = tab.locator("#vg-tooltip-element.visible, .hint")
    for _ in range(ROUNDS):
        wait_until_drawn(tab)
        for across, down in places:
            box = target.bounding_box()
            assert box
            at = box["x"] + across * box["width"], box["y"] + down * box["height"]
            tab.mouse.move(at[0] - 2, at[1], steps=2)
            tab.mouse.move(*at)
            tab.evaluate(FRAMES)
            if any(text in shown for shown in tooltips.all_inner_texts()):
                return at
    raise AssertionError(f"no tooltip has the text {text!r}")


def search_box(tab: Page) -> Locator:
    return tab.get_by_role("textbox", name="Search")


def tick(tab: Page, row: int, number: int = 0) -> None:
    """Click a row of a table, once the server has sent all tables of the page."""
    wait_until_sent(tab)
    table(tab, number).locator("tbody tr").nth(row).click()


def drag(tab: Page, target: Locator, since: int, until: int) -> None:
    """Drag over an element between two positions, in pixels from its left edge."""
    wait_until_drawn(tab)
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
    button = tab.locator(f".st-key-menu-{name} button").first
    button.click()
    try:
        tab.get_by_test_id("stPopoverBody").first.wait_for(timeout=5_000)
    except PlaywrightTimeout:  # the page was drawn again in the moment of the click
        button.click()


def wait_until_sent(tab: Page) -> None:
    """Wait until the server has sent the whole page."""
    tab.wait_for_function(IS_SENT)


def wait_until_drawn(tab: Page, rest_ms: int = REST_MS) -> None:
    """Wait until the server has sent the page and its charts no longer move."""
    wait_until_sent(tab)
    tab.wait_for_function(ARE_DRAWN, arg=CHARTS)
    boxes_at_rest(tab, tab.locator(CHARTS), rest_ms)


def wait_for_query(tab: Page, key: str, value: str | None = None) -> None:
    """Wait until the address has the parameter, with that value if one is given."""
    tab.wait_for_function(
        "([k, v]) => { const q = new URLSearchParams(location.search);"
        " return v === null ? q.has(k) : q.getAll(k).includes(v); }",
        arg=[key, value],
    )


def wait_until_absent(tab: Page, *keys: str) -> None:
    """Wait until the address has none of these parameters."""
    tab.wait_for_function(
        "keys => { const q = new URLSearchParams(location.search);"
        " return !keys.some((key) => q.has(key)); }",
        arg=list(keys),
    )


def without_perfetto(tab: Page) -> None:
    """Do not load Perfetto in this tab, for tests of the page around it."""
    tab.route("**/perfetto/ui/**", lambda route: route.abort())
