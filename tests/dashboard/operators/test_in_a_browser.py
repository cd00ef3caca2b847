"""Page Operators in Chromium."""

import re
from pathlib import Path

from playwright.sync_api import expect

import ingest
from dashboard.drawing import formatting
from tests.builders.events import op
from tests.dashboard.browser import (
    cell,
    open_menu,
    point_until,
    query_of,
    search_box,
    table,
    tick,
    visit,
    wait_for_query,
    wait_until_sent,
)
from tests.dashboard.conftest import NETWORK, WORKERS0, WORKERS4


def test_the_top_kernel_is_on_the_page_and_downloads_have_all_rows_with_full_names(
    tab, address, run_of, truth
):
    name, _, ns = truth["h100_owlv2.json.gz"]["top_kernels"][0]
    tab.goto(f"{address}/operators?run={run_of('h100_owlv2')}&level=kernel&step=all")
    top = table(tab).locator("tbody tr").nth(1)  # after the idle time
    expect(top).to_contain_text(formatting.short_name(name))
    expect(top).to_contain_text(formatting.duration(ns))
    expect(top.locator("td").first).to_have_attribute("title", name)
    expect(cell(tab, "bubble")).to_be_attached()

    visit(tab, f"{address}/operators?run={run_of('h100_owlv2')}&level=kernel&q=MulFunctor&step=all")
    open_menu(tab, "ranking")
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="CSV", exact=True).click()
    run = run_of("h100_owlv2")
    assert waiting.value.suggested_filename == f"{run}-whole-ranking.csv"
    lines = Path(waiting.value.path()).read_text().splitlines()
    assert lines[0] == "name,percent,device_ns,calls"
    assert any("at::native::vectorized_elementwise_kernel<4" in line for line in lines)
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="Parquet", exact=True).click()
    assert Path(waiting.value.path()).read_bytes()[:4] == b"PAR1"


def test_a_click_filters_and_the_link_reopens_the_same_view(tab, address, run_of):
    tab.goto(f"{address}/operators?run={run_of('h100_owlv2')}&step=all")
    first = table(tab).locator("tbody tr").nth(1)
    expect(first).to_contain_text("aten::softmax21.7%263 ms")
    wait_until_sent(tab)
    tab.get_by_role("radio", name="leaf").click()
    wait_for_query(tab, "level", "leaf")
    expect(first).to_contain_text("aten::_softmax")

    wait_until_sent(tab)
    search = search_box(tab)
    search.fill("soft")
    search.press("Enter")
    wait_for_query(tab, "q", "soft")
    expect(table(tab).locator("tbody tr")).to_have_count(1)
    tick(tab, 0)
    wait_for_query(tab, "name", "aten::_softmax")
    expect(tab.get_by_role("tab", name="Shapes")).to_be_visible()

    wait_until_sent(tab)
    tab.goto(tab.url)
    expect(search_box(tab)).to_have_value("soft")
    expect(tab.get_by_role("heading", name="aten::_softmax")).to_be_visible()
    wait_until_sent(tab)
    tab.get_by_role("tab", name="Calls").click()
    expect(cell(tab, "aten::_softmax").first).to_be_attached()


def test_the_sql_of_a_table_opens_in_the_console(tab, address, run_of):
    tab.goto(f"{address}/operators?run={run_of('h100_owlv2')}&step=all")
    open_menu(tab, "ranking")
    tab.get_by_role("link", name="Open in the console").click()
    expect(tab.get_by_role("heading", name="SQL", exact=True)).to_be_visible()
    expect(tab.get_by_label("Query")).to_have_value(re.compile("FROM ranking"))
    expect(tab.get_by_text(re.compile(r"33 rows in"))).to_be_visible()
    wait_until_sent(tab)
    assert query_of(tab)["run"] == [run_of("h100_owlv2")]
    tab.goto(tab.url)
    expect(tab.get_by_label("Query")).to_have_value(re.compile("FROM ranking"))


def test_a_click_on_a_bar_opens_the_operator_of_its_run(tab, address, run_of):
    runs = [run_of(WORKERS0), run_of(WORKERS4)]
    tab.goto(f"{address}/operators?run={runs[0]}&run={runs[1]}")
    chart = tab.get_by_test_id("stVegaLiteChart").first
    places = [(x / 100, y / 100) for y in range(4, 30, 2) for x in range(50, 40, -3)]
    at = point_until(tab, chart, places, runs[1])
    shown = tab.locator("#vg-tooltip-element").inner_text().split()
    tab.mouse.click(*at)
    wait_for_query(tab, "of", runs[1])
    wait_for_query(tab, "name", shown[shown.index("name") + 1])
    expect(tab.locator(".grid tr[aria-selected=true]")).to_have_count(1)


def test_a_click_on_a_bar_of_a_rank_opens_that_rank(tab, serve, traces):
    runs = []
    for run in ("one", "two"):
        (traces.directory / run).mkdir()
        for rank, us in enumerate((40, 30)):  # the page shows the slower one by default
            events = [op(run, 0, us)]
            traces.write(events, f"{run}/rank{rank}", distributedInfo={"rank": rank})
        runs.append(traces.store.add(traces.directory / run).run_id)
    one, two = runs
    tab.goto(f"{serve(traces.store.path)}/operators?run={one}&run={two}")
    chart = tab.get_by_test_id("stVegaLiteChart").first
    places = [(0.5, y / 100) for y in range(4, 90, 3)]
    at = point_until(tab, chart, places, f"{two} rank 1")
    tab.mouse.click(*at)
    wait_for_query(tab, "of", two)
    wait_for_query(tab, "device", "rank 1 host")
    expect(tab.get_by_role("combobox", name="Rank and device")).to_have_value("rank 1 host")


def test_hovering_a_point_of_a_network_names_the_operator(tab, serve, network_store):
    run = ingest.Store(network_store).find(NETWORK)
    tab.goto(f"{serve(network_store)}/operators?run={run}")
    expect(tab.get_by_role("heading", name="FLOPS against bandwidth")).to_be_visible()
    chart = tab.get_by_test_id("stVegaLiteChart").first
    places = [(x / 100, y / 100) for y in range(36, 60, 3) for x in range(12, 60, 2)]
    point_until(tab, chart, places, "FLO per byte")
