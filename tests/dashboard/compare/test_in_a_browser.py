"""Page Compare in Chromium."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.browser import (
    ALL,
    PLOT,
    cell,
    drag,
    query_of,
    table,
    tick,
    visit,
    wait_for_query,
    wait_until_drawn,
    wait_until_sent,
)
from tests.dashboard.conftest import MI300, OWLV2
from tests.helpers.samples import COMPILED, EAGER

FAINT = 51  # the alpha of boxes that are not highlighted, of 255
MODULES, ROWS = 1, 2  # indices of tables; table 0 has all metrics
IS_RED_AND_BLUE = """() => {
    /* all */
    const shown = all(".icicle .box").map((box) => getComputedStyle(box).backgroundColor);
    const colours = shown.map((colour) => colour.match(/[0-9]+/g).map(Number));
    return colours.some(([red, , blue]) => red > blue + 60)
        && colours.some(([red, , blue]) => blue > red + 60);
}""".replace("/* all */", ALL)


@pytest.fixture
def address_of(
    serve: Callable[[Path], str], compared_store: Path, compared_run: Callable[[str], str]
) -> Callable[..., str]:
    """A function that returns the address of the page for two runs."""

    def address(base: str, other: str, **more: str) -> str:
        query = urlencode({"base": compared_run(base), "other": compared_run(other), **more})
        return f"{serve(compared_store)}/compare?{query}"

    return address


def tick_below(tab: Page, number: int) -> None:
    """Tick the first row of a table that may be below the visible part of the page."""
    tick(tab, 0, number)


def assert_bars_begin_at_zero(tab: Page) -> None:
    """Assert that changes that save time have bars to the left of one zero, others to its right."""
    bars = table(tab, ROWS).locator("td.bar", has_text=re.compile(r"^[-+]"))
    expect(bars.first).to_be_attached()
    wait_until_sent(tab)
    zeros: dict[str, list[float]] = {"+": [], "-": []}  # the zero of bars of each sign, in px
    for bar in bars.all():
        drawn = bar.locator("i").bounding_box()
        assert drawn
        sign = bar.inner_text()[0]
        zeros[sign].append(drawn["x"] + (drawn["width"] if sign == "-" else 0))
    assert zeros["+"]
    assert zeros["-"]
    ends = [*zeros["+"], *zeros["-"]]
    assert max(ends) - min(ends) < 1


def assert_a_drag_zooms_both_timelines(tab: Page) -> None:
    axes = tab.locator(".lanes .ticks")
    expect(axes).to_have_count(2)
    whole = axes.all_inner_texts()
    assert len(set(whole)) == 1
    drag(tab, tab.locator(".plot").first, 200, 300)
    wait_for_query(tab, "from")
    query = query_of(tab)
    assert 0 < int(query["from"][0]) < int(query["to"][0]) < 4_200_000
    expect(tab.get_by_role("button", name="Zoom out")).to_be_enabled()
    for axis in axes.all():
        expect(axis).not_to_have_text(whole[0])
    wait_until_drawn(tab)
    assert len(set(axes.all_inner_texts())) == 1


def wait_for_alphas(tab: Page, *wanted: int, without: int | None = None) -> None:
    """Wait until boxes of the first timeline have these alpha values, which are 255 by default."""
    tab.wait_for_function(
        """([wanted, without]) => {
            /* all */
            const [canvas] = all(".lanes canvas");
            if (!canvas) return false; // it is being redrawn
            const { data } = canvas.getContext("2d")
                .getImageData(0, 0, canvas.width, canvas.height);
            const found = new Set();
            for (let at = 3; at < data.length; at += 4) found.add(data[at]);
            return wanted.every((each) => found.has(each)) && !found.has(without);
        }""".replace("/* all */", ALL),
        arg=[list(wanted), without],
        polling=200,
    )


def test_a_tick_on_a_fused_kernel_shows_what_it_replaced_and_a_drag_zooms_both_timelines(
    tab: Page, address_of
) -> None:
    tab.goto(address_of(EAGER, COMPILED))
    expect(tab.get_by_text("times as fast")).to_be_visible()
    expect(tab.locator(".lanes canvas")).to_have_count(2)
    expect(cell(tab, "provenance", ROWS).first).to_be_attached()

    assert_bars_begin_at_zero(tab)
    wait_for_alphas(tab, 0, 255, without=FAINT)

    tick_below(tab, ROWS)
    wait_for_query(tab, "row")
    expect(tab.get_by_text("Aligned by torch's compile log")).to_be_visible()
    expect(cell(tab, "aten::cat", ROWS + 1).first).to_be_attached()
    expect(tab.get_by_text("activities of the row selected above are highlighted")).to_be_visible()
    wait_for_alphas(tab, 0, FAINT, 255)
    wait_until_sent(tab)
    tab.goto(tab.url)
    expect(tab.get_by_text("Aligned by torch's compile log")).to_be_visible()
    expect(tab.get_by_role("heading", name="Compilations")).to_be_attached()  # the last section

    tick_below(tab, MODULES)
    wait_for_query(tab, "module", "FluxTransformer2DModel")
    expect(tab.get_by_text("Not shown: 1 row")).to_be_visible()
    expect(tab.get_by_role("button", name="All modules")).to_be_enabled()
    assert_a_drag_zooms_both_timelines(tab)


def test_page_runs_links_to_the_comparison(
    tab: Page,
    serve: Callable[[Path], str],
    compared_store: Path,
    compared_run: Callable[[str], str],
) -> None:
    runs = [compared_run(EAGER), compared_run(COMPILED)]
    tab.goto(f"{serve(compared_store)}/runs?{urlencode({'run': runs}, doseq=True)}")
    wait_until_sent(tab)
    tab.get_by_role("link", name="Compare").last.click()
    expect(tab.get_by_text("times as fast")).to_be_visible()
    wait_until_sent(tab)
    tab.get_by_role("button", name="Swap").click()
    expect(tab.get_by_text("times as long")).to_be_visible()
    wait_for_query(tab, "base", runs[1])


def test_a_tick_among_several_runs_and_a_link_to_a_section(
    tab: Page,
    serve: Callable[[Path], str],
    compared_store: Path,
    compared_run: Callable[[str], str],
) -> None:
    runs = [compared_run(name) for name in (OWLV2, MI300, EAGER)]
    query = urlencode({"run": runs, "base": runs[0], "other": runs[1]}, doseq=True)
    tab.goto(f"{serve(compared_store)}/compare?{query}")
    expect(tab.get_by_role("heading", name="Compilations")).to_be_attached()
    expect(cell(tab, runs[2]).first).to_be_attached()
    tick(tab, 0)  # the fastest: a tiny model
    wait_for_query(tab, "other", runs[2])
    wait_until_sent(tab)
    assert query_of(tab)["base"] == [runs[0]]
    expect(tab.get_by_role("heading", name="Compilations")).to_be_attached()
    wait_until_drawn(tab)
    tab.set_viewport_size({"width": 1400, "height": 900})
    timeline = tab.get_by_role("heading", name="Timelines of one step of each run")
    expect(timeline).not_to_be_in_viewport()
    tab.get_by_role("link", name="Timelines of one step of each run", exact=True).click()
    expect(timeline).to_be_in_viewport()
    assert query_of(tab)["other"] == [runs[2]]


def test_the_page_fits_its_window_and_a_flame_graph_is_red_and_blue(tab: Page, address_of) -> None:
    tab.set_viewport_size({"width": 480, "height": 1200})
    for base, other in ((EAGER, COMPILED), (OWLV2, MI300)):
        visit(tab, address_of(base, other))
        expect(tab.get_by_role("heading", name="Compilations")).to_be_attached()
        for width in (480, 1100, 1600):
            tab.set_viewport_size({"width": width, "height": 1200})
            wait_until_drawn(tab)
            tab.wait_for_function(
                "width => document.documentElement.scrollWidth <= width", arg=width
            )

    wait_until_sent(tab)
    tab.get_by_text("All kernels, largest changes first").click()
    kernels = tab.locator(".grid").filter(has_text="cunn_SoftMaxForward").last
    expect(kernels).to_be_attached()
    wait_until_sent(tab)  # Streamlit can lose a click while it draws
    kernels.locator("tr.choice").filter(has_text="cunn_SoftMaxForward").first.click()
    launches = tab.locator(".grid table:has(th:text-is('grid'))")
    expect(launches).to_be_attached()
    wait_until_sent(tab)
    launches.locator("tr.choice").first.click()
    expect(tab.get_by_role("link", name="The longest in")).not_to_have_count(0)

    assert tab.locator(PLOT).count() == 0
    wait_until_sent(tab)
    tab.get_by_text("Flame graph of the difference").click()
    expect(tab.locator(PLOT).first).to_be_visible()
    tab.wait_for_function(IS_RED_AND_BLUE)
    expect(cell(tab, "cunn_SoftMaxForward", -1)).to_be_attached()
