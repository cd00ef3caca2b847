"""Page Runs in Chromium."""

from playwright.sync_api import expect

import ingest
from tests.dashboard.browser import (
    query_of,
    search_box,
    table,
    tick,
    wait_for_query,
    wait_until_absent,
    wait_until_drawn,
    wait_until_sent,
)
from tests.dashboard.elements import add_whole, event


def test_a_tick_picks_a_run_for_all_pages(tab, address):
    tab.goto(f"{address}/")
    expect(tab.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
    expect(tab).to_have_url(f"{address}/runs")
    tick(tab, 0)
    wait_for_query(tab, "run")
    run = query_of(tab)["run"]
    expect(tab.get_by_test_id("stMetric").first).to_be_visible()

    for page in ("Operators", "Bubbles", "SQL", "Runs"):
        wait_until_sent(tab)
        tab.get_by_test_id("stSidebarNavLink").filter(has_text=page).click()
        expect(tab.get_by_role("heading", name=page, exact=True)).to_be_visible()
        wait_for_query(tab, "run")
        assert query_of(tab)["run"] == run


def test_quick_ticks_all_count(tab, address):
    tab.goto(f"{address}/runs")
    wait_until_sent(tab)
    rows = table(tab).locator("tbody tr")
    for is_picked in ("true", "false", "true"):
        for row in range(4):
            # A busy machine can lose a real click before the page receives it.
            rows.nth(row).dispatch_event("click")
            expect(rows.nth(row)).to_have_attribute("aria-selected", is_picked)
    expect(table(tab).locator("tr[aria-selected=true]")).to_have_count(4)
    # The server handles ticks one by one, and is idle between them.
    tab.wait_for_function("new URLSearchParams(location.search).getAll('run').length === 4")
    wait_until_sent(tab)
    expect(table(tab).locator("tr[aria-selected=true]")).to_have_count(4)


def test_runs_are_searched_whatever_is_picked_and_the_link_reopens_the_search(tab, address):
    tab.goto(f"{address}/runs")
    tick(tab, 0)
    wait_for_query(tab, "run")
    for text in ("flux", "resnet"):
        search_box(tab).fill(text)
        search_box(tab).press("Enter")
        wait_for_query(tab, "find", text)
        wait_until_sent(tab)
        if text == "flux":
            tab.get_by_role("button", name="Clear all").click()
            wait_until_absent(tab, "run")
            wait_until_sent(tab)
    expect(table(tab).locator("tbody tr")).to_have_count(2)
    wait_until_sent(tab)
    tab.goto(tab.url)
    expect(search_box(tab)).to_have_value("resnet")
    expect(table(tab).locator("tbody tr")).to_have_count(2)


def test_a_tick_moves_no_row_but_picked_runs_come_first_when_the_page_is_opened(tab, address):
    tab.goto(f"{address}/runs")
    rows = table(tab).locator("tbody tr")
    expect(rows).to_have_count(5)
    wait_until_drawn(tab)
    name = rows.last.locator("td").nth(1).inner_text()
    before = rows.last.bounding_box()
    tick(tab, 4)
    wait_for_query(tab, "run", name)
    expect(tab.get_by_role("heading", name="Files")).to_be_visible()
    wait_until_drawn(tab)
    assert rows.last.bounding_box() == before
    expect(rows.last.locator("td").nth(1)).to_have_text(name)
    tab.goto(tab.url)
    expect(rows.first.locator("td").nth(1)).to_have_text(name)
    expect(rows).to_have_count(5)


def test_labels_are_edited_in_place(tab, serve, traces):
    labels = {
        "a": ingest.AddOptions(model="flux", mode="eager", tags={"branch": "main", "gpu": "H100"}),
        "b": ingest.AddOptions(model="flux", mode="compiled", tags={"branch": "main"}, note="n"),
    }
    runs = [add_whole(traces, name, [event("cpu_op", 0, name)]) for name in labels]
    for run, options in zip(runs, labels.values(), strict=True):
        traces.store.edit(run, options)

    def stored():
        query = "SELECT model, mode, tags, note FROM run_list ORDER BY name"
        return ingest.connect(traces.store.path).execute(query).fetchall()

    before = stored()
    tab.goto(f"{serve(traces.store.path)}/runs?run={runs[0]}&run={runs[1]}")
    wait_until_sent(tab)
    tab.get_by_role("button", name="Edit labels").click()
    dialog = tab.get_by_role("dialog")
    model, mode, tags = (
        dialog.get_by_role("combobox", name=label, exact=True)
        for label in ("Model", "Mode", "Tags (KEY=VALUE)")
    )
    expect(model).to_have_value("flux")
    expect(mode).to_have_value("")  # they differ
    tags.fill("nonsense")
    tags.press("Enter")
    tags.press("Escape")
    expect(dialog.get_by_text("nonsense: write a tag as KEY=VALUE")).to_be_visible()
    expect(dialog.get_by_role("button", name="Save")).to_be_disabled()
    tags.fill("night=1")
    tags.press("Enter")
    tags.press("Escape")
    assert stored() == before
    dialog.get_by_role("button", name="Remove nonsense").click()
    dialog.get_by_role("button", name="Remove branch=main").click()
    model.fill("sd3")
    model.press("Enter")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    expect(table(tab).locator("td", has_text="sd3")).to_have_count(2)
    assert stored() == [
        ("sd3", "eager", {"gpu": "H100", "night": "1"}, None),
        ("sd3", "compiled", {"night": "1"}, "n"),
    ]
