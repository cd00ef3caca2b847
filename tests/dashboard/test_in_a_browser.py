"""What a person sees and does, in Chromium, on a really ingested store."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

import ingest
from dashboard.widgets import formatting

expect.set_options(timeout=10_000)


def query_of(tab: Page) -> dict[str, list[str]]:
    """The state that the address carries."""
    return parse_qs(urlsplit(tab.url).query)


def table(tab: Page, number: int = 0) -> Locator:
    """A table of the page; its cells are drawn on a canvas, and named beside it for readers."""
    return tab.get_by_test_id("stDataFrame").nth(number)


def cell(tab: Page, text: str, number: int = 0) -> Locator:
    return table(tab, number).locator("td", has_text=re.compile(f"^{re.escape(text)}$"))


def search_box(tab: Page) -> Locator:
    return tab.get_by_role("textbox", name="Search")


def tick(tab: Page, row: int, number: int = 0) -> None:
    """Clicks the box at the left of a row."""
    canvas = table(tab, number).locator("canvas").first
    expect(canvas).to_be_visible()
    tab.wait_for_timeout(500)  # the grid takes a moment to measure itself
    box = canvas.bounding_box()
    assert box
    tab.mouse.click(box["x"] + 18, box["y"] + 35 * (row + 1) + 17)


def wait_for_query(tab: Page, key: str, value: str | None = None) -> None:
    """Until the address carries the key, with that value."""
    tab.wait_for_function(
        "([k, v]) => { const q = new URLSearchParams(location.search);"
        " return v === null ? q.has(k) : q.getAll(k).includes(v); }",
        arg=[key, value],
    )


def test_a_tick_picks_a_run_and_the_pages_keep_it(tab, address):
    tab.goto(f"{address}/")
    expect(tab.get_by_role("heading", name="Runs")).to_be_visible()
    assert urlsplit(tab.url).path == "/runs"
    tick(tab, 0)
    wait_for_query(tab, "run")
    run = query_of(tab)["run"]
    expect(tab.get_by_test_id("stMetric").first).to_be_visible()

    for page in ("Operators", "Bubbles", "SQL", "Runs"):
        tab.get_by_test_id("stSidebarNavLink").filter(has_text=page).click()
        expect(tab.get_by_role("heading", name=page, exact=True)).to_be_visible()
        assert query_of(tab)["run"] == run


def test_runs_are_searched_and_the_link_reopens_the_search(tab, address):
    tab.goto(f"{address}/runs")
    search = search_box(tab)
    search.fill("resnet")
    search.press("Enter")
    wait_for_query(tab, "find", "resnet")
    expect(table(tab).locator("tbody tr")).to_have_count(2)
    tab.goto(tab.url)
    expect(search_box(tab)).to_have_value("resnet")
    expect(table(tab).locator("tbody tr")).to_have_count(2)


def test_the_top_kernel_is_on_the_page_with_its_figure(tab, address, run_of, truth):
    name, _, ns = truth["h100_owlv2.json.gz"]["top_kernels"][0]
    tab.goto(f"{address}/operators?run={run_of('h100_owlv2')}&level=kernel")
    top = tab.get_by_text("Top 3:")
    expect(top).to_contain_text(formatting.short_name(name))
    expect(top).to_contain_text(formatting.duration(ns))
    expect(cell(tab, "bubble")).to_be_attached()
    expect(tab.get_by_test_id("stVegaLiteChart").locator("canvas, svg").first).to_be_visible()


def test_a_click_filters_and_the_link_reopens_the_same_view(tab, address, run_of):
    tab.goto(f"{address}/operators?run={run_of('h100_owlv2')}")
    expect(tab.get_by_text("Top 3:")).to_contain_text("aten::softmax 263 ms (24.3%)")
    tab.get_by_role("radio", name="leaf").click()
    wait_for_query(tab, "level", "leaf")
    expect(tab.get_by_text("Top 3:")).to_contain_text("aten::_softmax")

    search = search_box(tab)
    search.fill("soft")
    search.press("Enter")
    wait_for_query(tab, "q", "soft")
    expect(table(tab).locator("tbody tr")).to_have_count(1)
    tick(tab, 0)
    wait_for_query(tab, "name", "aten::_softmax")
    expect(tab.get_by_role("tab", name="Shapes")).to_be_visible()

    tab.goto(tab.url)
    expect(search_box(tab)).to_have_value("soft")
    expect(tab.get_by_role("heading", name="aten::_softmax")).to_be_visible()
    tab.get_by_role("tab", name="Calls").click()
    expect(cell(tab, "aten::_softmax").first).to_be_attached()


def test_the_sql_behind_opens_in_the_console(tab, address, run_of):
    tab.goto(f"{address}/operators?run={run_of('h100_owlv2')}")
    tab.get_by_role("button", name="SQL: table").click()
    tab.get_by_role("link", name="Open in the console").click()
    expect(tab.get_by_role("heading", name="SQL", exact=True)).to_be_visible()
    expect(tab.get_by_label("Query")).to_have_value(re.compile("FROM ranking"))
    expect(tab.get_by_text(re.compile(r"33 rows in"))).to_be_visible()
    assert query_of(tab)["run"] == [run_of("h100_owlv2")]
    tab.goto(tab.url)
    expect(tab.get_by_label("Query")).to_have_value(re.compile("FROM ranking"))


def test_downloads_have_all_rows_with_whole_names(tab, address, run_of):
    tab.goto(f"{address}/operators?run={run_of('h100_owlv2')}&level=kernel&q=MulFunctor")
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="CSV", exact=True).click()
    lines = Path(waiting.value.path()).read_text().splitlines()
    assert lines[0] == "name,device_ns,calls,percent"
    assert any("at::native::vectorized_elementwise_kernel<4" in line for line in lines)
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="Parquet", exact=True).click()
    assert Path(waiting.value.path()).read_bytes()[:4] == b"PAR1"


def test_bubbles_name_the_data_loader(tab, address, run_of):
    tab.goto(f"{address}/bubbles?run={run_of('h100_owlv2')}")
    expect(tab.get_by_text("Mostly: dataloader")).to_be_visible()
    expect(tab.get_by_text("493 ms").first).to_be_visible()
    expect(cell(tab, "dataloader")).to_be_attached()
    expect(tab.get_by_test_id("stVegaLiteChart")).to_have_count(4)
    tick(tab, 1)
    wait_for_query(tab, "cause")
    cause = query_of(tab)["cause"][0]
    expect(tab.get_by_role("heading", name=f"Gaps: {cause}")).to_be_visible()
    tab.goto(tab.url)
    expect(tab.get_by_role("heading", name=f"Gaps: {cause}")).to_be_visible()


def test_the_timeline_zooms_and_the_link_reopens_the_stretch(tab, address, run_of):
    tab.goto(f"{address}/bubbles?run={run_of('h100_owlv2')}")
    expect(tab.get_by_test_id("stVegaLiteChart")).to_have_count(4)
    timeline = tab.get_by_test_id("stVegaLiteChart").nth(1)
    expect(timeline.locator("canvas, svg").first).to_be_visible()
    box = timeline.bounding_box()
    assert box
    middle = box["y"] + box["height"] / 2
    tab.wait_for_timeout(500)
    tab.mouse.move(box["x"] + 500, middle)
    tab.mouse.down()
    tab.mouse.move(box["x"] + 530, middle, steps=4)
    tab.mouse.move(box["x"] + 560, middle, steps=4)
    tab.mouse.up()
    wait_for_query(tab, "from")
    zoomed = tab.get_by_text(re.compile(r"from .* to .* of 1\.08 s"))
    expect(zoomed).not_to_contain_text("1.08 s from")
    said = zoomed.inner_text()
    tab.goto(tab.url)
    expect(tab.get_by_text(said)).to_be_visible()
    tab.get_by_role("button", name="All", exact=True).click()
    expect(tab.get_by_text("1.08 s from 0 µs to 1.08 s of 1.08 s")).to_be_visible()
    assert "from" not in query_of(tab)


def test_a_gap_can_be_looked_at(tab, address, run_of):
    tab.goto(f"{address}/bubbles?run={run_of('h100_owlv2')}&cause=dataloader")
    expect(cell(tab, "dataloader", 1).first).to_be_attached()
    tick(tab, 0, 1)
    whole = tab.get_by_test_id("stCode").filter(has_text="_SingleProcessDataLoaderIter.__next__")
    expect(whole).to_be_visible()
    tab.get_by_role("button", name="Show it in the timeline").click()
    wait_for_query(tab, "from")


def test_the_console_refuses_a_write_and_lives(tab, address, shown_store):
    tab.goto(f"{address}/sql")
    query = tab.get_by_label("Query")
    expect(query).to_be_visible()
    stolen = shown_store / "stolen.csv"
    for attack, word in (
        ("DROP VIEW runs", "DROP is not allowed"),
        (f"WITH x AS (COPY runs TO '{stolen}') SELECT 1", "COPY is not allowed"),
        ("FROM read_csv('/etc/passwd')", "read_csv is not allowed"),
        ("INSTALL httpfs", "INSTALL is not allowed"),
    ):
        query.fill(attack)
        query.press("Control+Enter")
        expect(tab.get_by_role("alert")).to_contain_text(word)
    query.fill("SELECT 6 * 7 AS answer")
    query.press("Control+Enter")
    expect(cell(tab, "42")).to_be_attached()
    assert not stolen.exists()


def test_the_console_shows_all_digits(tab, address):
    tab.goto(f"{address}/sql?sql=SELECT 1::DOUBLE AS f UNION ALL SELECT 123456789.0123456")
    expect(cell(tab, "123456789.0123456")).to_be_attached()


def test_an_example_is_put_into_the_editor(tab, address):
    tab.goto(f"{address}/sql")
    tab.get_by_test_id("stSelectbox").locator("input").click()
    tab.get_by_role("option", name="Launches that the device waited for").click()
    expect(tab.get_by_label("Query")).to_have_value(re.compile("cause = 'host'"))
    expect(tab.get_by_text(re.compile(r"20 rows in"))).to_be_visible()


def test_the_schema_browser_explains_columns(tab, address):
    tab.goto(f"{address}/sql")
    tab.get_by_label("Schema").fill("launch_id")
    tab.get_by_label("Schema").press("Enter")
    expect(tab.get_by_text("steps", exact=True)).to_have_count(0)  # the search has taken effect
    tab.get_by_text("kernels", exact=True).click()
    expect(tab.get_by_text("of the launching call").first).to_be_visible()


def test_a_run_without_a_device_says_so(tab, address, run_of):
    tab.goto(f"{address}/operators?run={run_of('flux_eager_full')}")
    expect(tab.get_by_text("There is no device in this profile")).to_be_visible()
    expect(tab.get_by_text("Top 3:")).to_contain_text("aten::addmm")
    tab.goto(f"{address}/bubbles?run={run_of('flux_eager_full')}")
    expect(tab.get_by_text("There is no device in this profile")).to_be_visible()


def test_an_unknown_run_and_an_unknown_page_are_named(tab, address):
    tab.goto(f"{address}/operators?run=gone-12345678")
    expect(tab.get_by_role("alert").filter(has_text="gone-12345678")).to_be_visible()


def test_an_empty_store_and_then_its_first_run(
    tab: Page, serve: Callable[[Path], str], tmp_path: Path, samples: Path
) -> None:
    store = ingest.Store(tmp_path / "store")
    tab.goto(f"{serve(store.path)}/operators")
    expect(tab.get_by_text("ingest add run_dir/")).to_be_visible()
    labels = ingest.RunLabels(name="<script>document.title = 'stolen'</script>")
    store.add(samples / "traces" / "mi210_gpu_only.json.gz", labels)
    tab.reload()
    expect(tab.get_by_text("Top 1:")).to_be_visible()
    tab.get_by_test_id("stSidebarNavLink").filter(has_text="Runs").click()
    expect(cell(tab, "<script>document.title = 'stolen'</script>")).to_be_attached()
    assert tab.title() != "stolen"


@pytest.mark.parametrize(
    ("page", "scheme"),
    [("runs", "dark"), ("operators", "light"), ("bubbles", "dark"), ("sql", "light")],
)
def test_pages_fit_a_narrow_window(
    chromium: Any, address: str, run_of: Callable[[str], str], page: str, scheme: Any
) -> None:
    with chromium.new_context(
        viewport={"width": 480, "height": 900}, color_scheme=scheme
    ) as context:
        tab = context.new_page()
        tab.goto(f"{address}/{page}?run={run_of('h100_owlv2')}")
        expect(tab.get_by_role("heading").first).to_be_visible()
        expect(tab.get_by_test_id("stDataFrame").first).to_be_attached()
        assert tab.evaluate("document.documentElement.scrollWidth") <= 480
