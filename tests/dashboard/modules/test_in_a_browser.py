"""Page Modules in Chromium."""

import re

from playwright.sync_api import Locator, Page, expect

import ingest
from dashboard.drawing import formatting
from tests.dashboard.browser import (
    MAX_BOXES,
    PLOT,
    query_of,
    table,
    wait_for_query,
    wait_until_sent,
)
from tests.dashboard.elements import flame_graphs, texts


def box(tab: Page, name: str):
    """Return the first box of the flame graph with this name."""
    return tab.locator(PLOT).filter(has_text=re.compile(re.escape(name))).first


def fold_button(row: Locator) -> Locator:
    return row.get_by_role("button")


def test_the_tree_of_modules_folds(tab, address, run_of, shown_store) -> None:
    run = run_of("h100_owlv2")
    with ingest.connect(shown_store) as connection:
        [(inside, layers, layer_id)] = connection.execute(
            """
            SELECT
                count(*),
                count(*) FILTER (WHERE module LIKE '%/Owlv2Encoder_0/Owlv2EncoderLayer_%'
                    AND module NOT LIKE '%/Owlv2EncoderLayer_%/%'),
                any_value(module_id) FILTER (WHERE name = 'Owlv2EncoderLayer_3')
            FROM module_ranking WHERE run_id = $1 AND contains(module, '/Owlv2Encoder_0/')
            """,
            [run],
        ).fetchall()
        inner = connection.execute(
            "SELECT name FROM module_ranking WHERE run_id = $1 AND depth = 1 ORDER BY name", [run]
        ).fetchall()
    tab.goto(f"{address}/modules?run={run}&step=all&module={layer_id}")
    rows = table(tab).locator("tbody tr")
    chosen = rows.filter(has_text=re.compile("Owlv2EncoderLayer_3"))
    expect(chosen).to_have_attribute("aria-selected", "true")  # the rows around it are open
    encoder = rows.filter(has_text="Owlv2Encoder_0")
    expect(encoder).to_have_attribute("aria-expanded", "true")
    tree = table(tab).get_by_role("treegrid")
    opened = int(tree.get_attribute("aria-rowcount") or 0)
    fold_button(encoder).click()
    expect(tree).to_have_attribute("aria-rowcount", str(opened - layers))
    fold_button(encoder).click(modifiers=["Shift"])
    expect(tree).to_have_attribute("aria-rowcount", str(opened - layers + inside))
    encoder.press("ArrowLeft")
    expect(encoder).to_have_attribute("aria-expanded", "false")
    expect(encoder).to_be_focused()
    encoder.press("ArrowRight")
    expect(tree).to_have_attribute("aria-rowcount", str(opened - layers + inside))
    fold_button(rows.first).click(modifiers=["Shift"])
    expect(rows).to_have_count(1)
    fold_button(rows.first).click()
    expect(rows).to_have_count(1 + len(inner))
    tab.get_by_role("columnheader", name="module").click()  # sorts modules within their parent
    for number, (name,) in enumerate([("Owlv2ForObjectDetection_0",), *inner]):
        expect(rows.nth(number).locator("td").first).to_have_attribute("title", name)


def test_a_search_shows_all_modules_with_the_name(tab, address, run_of, shown_store) -> None:
    run = run_of("h100_owlv2")
    with ingest.connect(shown_store) as connection:
        [(found,)] = connection.execute(
            "SELECT count(*) FROM module_ranking WHERE run_id = $1 AND contains(name, 'Linear_21')",
            [run],
        ).fetchall()
    tab.goto(f"{address}/modules?run={run}&step=all&q=Linear_21")
    rows = table(tab).locator("tbody tr")
    expect(rows).to_have_count(found)
    expect(table(tab).get_by_role("button")).to_have_count(0)  # none is inside another


def test_a_module_opens_its_operators_kernels_and_flame_graph(
    tab, address, run_of, shown_store, truth
) -> None:
    run = run_of("h100_owlv2")
    with ingest.connect(shown_store) as connection:
        [(module_id, kernels_ns, softmax_ns)] = connection.execute(
            """
            WITH inside AS (
                SELECT kernels.name, kernels.dur_ns FROM kernels SEMI JOIN events AS module
                ON module.run_id = $1 AND module.name = 'nn.Module: Owlv2EncoderLayer_0'
                    AND kernels.launch_ns >= module.start_ns
                    AND kernels.launch_ns < module.start_ns + module.dur_ns
                WHERE kernels.run_id = $1
            )
            SELECT module_id, (SELECT sum(dur_ns) FROM inside),
                (SELECT sum(dur_ns) FROM inside WHERE contains(name, 'cunn_SoftMaxForward'))
            FROM module_ranking WHERE run_id = $1 AND name = 'Owlv2EncoderLayer_0'
            """,
            [run],
        ).fetchall()
    tab.goto(f"{address}/modules?run={run}&step=all")
    names = tab.locator(".grid").last
    _, _, top_ns = truth["h100_owlv2.json.gz"]["top_kernels"][0]
    expect(names.locator("tbody tr").first).to_contain_text(formatting.duration(top_ns))
    rows = table(tab).locator("tbody tr")
    expect(rows.first).to_contain_text("Owlv2ForObjectDetection_0")
    expect(tab.locator(PLOT).first).to_be_visible()
    assert tab.locator(PLOT).count() <= MAX_BOXES
    wait_until_sent(tab)
    fold_button(rows.filter(has_text="Owlv2Encoder_0")).click()
    rows.filter(has_text="Owlv2EncoderLayer_0").click()
    wait_for_query(tab, "module", str(module_id))
    expect(tab.get_by_role("heading", name="Owlv2EncoderLayer_0")).to_be_visible()
    expect(tab.get_by_test_id("stMetricValue").nth(2)).to_have_text(formatting.duration(kernels_ns))
    tab.get_by_role("tab", name="Kernels").click()
    softmax = tab.locator(".grid tr").filter(has_text="cunn_SoftMaxForward").first
    expect(softmax).to_contain_text(formatting.duration(softmax_ns))
    expect(box(tab, "nn.Module: Owlv2EncoderLayer_0")).to_be_visible()

    wait_until_sent(tab)
    search = tab.get_by_placeholder("find a name")
    search.fill("softmax")
    search.press("Enter")
    wait_for_query(tab, "find", "softmax")
    has_it = re.compile("softmax", re.IGNORECASE)
    expect(names.locator("tbody tr").filter(has_not_text=has_it)).to_have_count(0)
    expect(names.locator("tbody tr").filter(has_text=has_it)).not_to_have_count(0)
    wait_until_sent(tab)
    tab.get_by_role("radio", name="host time").click()
    wait_for_query(tab, "flame", "host time")
    expect(names).to_contain_text("aten::softmax")


def test_a_click_on_a_box_zooms_in_and_the_link_reopens_it(tab, address, run_of) -> None:
    tab.goto(f"{address}/modules?run={run_of('h100_owlv2')}&step=all&box=all")
    expect(box(tab, "ProfilerStep*")).to_be_visible()
    wait_until_sent(tab)
    box(tab, "nn.Module: Owlv2Model_0").click()
    wait_for_query(tab, "box")
    expect(tab.get_by_role("button", name="Caller")).to_be_visible()
    expect(box(tab, "ProfilerStep*")).to_have_count(0)
    wait_until_sent(tab)
    opened = query_of(tab)["box"]
    tab.goto(tab.url)
    expect(box(tab, "nn.Module: Owlv2Model_0")).to_be_visible()
    expect(box(tab, "ProfilerStep*")).to_have_count(0)
    wait_until_sent(tab)
    tab.get_by_role("button", name="All", exact=True).click()
    expect(box(tab, "ProfilerStep*")).to_be_visible()
    wait_for_query(tab, "box", "all")
    assert query_of(tab)["box"] == ["all"] != opened


def test_a_run_without_modules_says_how_to_record_them(app, shown_store, run_of) -> None:
    page = app(shown_store, "modules", run=run_of("v100_resnet50_workers0"))
    assert "The trace does not say which nn.Module ran when" in texts(page)
    [graph] = flame_graphs(page)
    assert len(graph["boxes"]) > 1
