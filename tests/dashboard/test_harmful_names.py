"""Harmful names: pages and commands show them as plain text."""

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Locator, Page, expect

import ingest
from ingest import server
from tests.dashboard.browser import (
    AFTER_IMAGES,
    CHARTS,
    FRAMES,
    change,
    exceptions,
    open_menu,
    tick,
    wait_for_query,
    wait_until_sent,
)
from tests.dashboard.elements import tables
from tests.helpers.cases import check_each

HACK = "window.hacked=1"
LONG = "aten::" + "long <i>" * 12_500
NAMES = [
    f"<script>{HACK}</script>",
    f"<img src=x onerror={HACK}>",
    "quotes ' \" ` '' \"\"",
    "**bold** _it_ # h",
    f"[a](javascript:{HACK})",
    "$x^2$ and $$y$$",
    ":material/home: :red[ink] :smile:",
    "a -> b <- c <-> d -- e >= f ~= g :streamlit:",
    "../../../etc/passwd",
    "{{7*7}} ${7*7} %s %(x)s {0}",
    f"datum.value + 1); {HACK}; (",
    "two\nlines\tand\r\nmore",
    "'; DROP TABLE runs;--",
    "[red]rich[/red] [link=http://x]y[/link]",
    "esc \x1b[31mred\x1b[0m \x1b]0;title\x07 back\x08",
    "right \u202eto left\u202c",
    "\U0001f600 <b>é</b> &lt;i&gt; &amp;",
    "a.b[c]\\d['e']",
    "aten::" + "x" * 100_000,
    LONG,
]
# Positions of the pointer, relative to a chart.
MARKS = [(x, y) for x in (0.1, 0.45, 0.8) for y in (0.15, 0.4, 0.7)]
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


def events(names: list[str], with_device: bool) -> list[dict[str, Any]]:
    """Return events with each name as operator, frame, module, annotation, input and kernel."""
    made: list[dict[str, Any]] = []
    for kind, name in (("process_name", names[0]), ("thread_name", names[1])):
        made.append({"ph": "M", "name": kind, "pid": 1, "tid": 1, "args": {"name": name}})
    for place, name in enumerate(names):
        start = 10_000 * place

        def event(cat: str, name: str, after: int, dur: int, start=start, **args: Any) -> None:
            on = {"pid": 0, "tid": 7} if cat == "kernel" else {"pid": 1, "tid": 1}
            when = {"ts": start + after, "dur": dur}
            made.append({"ph": "X", "cat": cat, "name": name, **when, **on, "args": args})

        ids = {"External id": place + 1}
        launch = {**ids, "correlation": place + 1}
        event("user_annotation", f"ProfilerStep#{place}", 0, 9_000)
        event("user_annotation", name, 1, 8_990)
        event("python_function", name, 2, 8_980)
        event("python_function", f"nn.Module: {name}", 3, 8_970)
        inputs = {"Input Dims": [[place]], "Input type": [name], "Concrete Inputs": [name]}
        event("cpu_op", name, 10, 8_000, **ids, **inputs)
        if with_device:
            event("cuda_runtime", "cudaLaunchKernel", 3_000, 5, **launch)
            kernel = f"void {name}<int>(x)" if place % 2 else name
            event("kernel", kernel, 3_010, 9_500 + place, **launch, device=0, stream=7)
    return made


@pytest.fixture(scope="module")
def harmful(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A store of three runs with a device and one without, with harmful names and tags.

    The second and the last run form a series. The run between them has no device.
    """
    directory = tmp_path_factory.mktemp("harmful")
    store = ingest.Store(directory / "store")
    made = []
    for number, name in enumerate([NAMES[0], NAMES[11], NAMES[1], NAMES[11]]):
        names = NAMES[number:] + NAMES[:number]
        trace = directory / f"<b>&`x` [red]y $z$ \x1b[31m {number}.json"
        device = {"deviceProperties": [{"id": 0, "name": name}]}
        began = {"baseTimeNanoseconds": (1_700_000_000 + number) * 10**9}
        trace.write_text(json.dumps({**device, **began, "traceEvents": events(names, number != 2)}))
        labels = ingest.AddOptions(name, NAMES[4], NAMES[6], dict(zip(names, NAMES, strict=True)))
        made.append(store.add(trace, labels).run_id)
    return store.path, made


@pytest.fixture(scope="module")
def harmful_store(harmful: tuple[Path, list[str]]) -> Path:
    """The path of the store."""
    return harmful[0]


@pytest.fixture(scope="module")
def runs(harmful: tuple[Path, list[str]]) -> list[str]:
    """The ids of its runs."""
    return harmful[1]


def drawn(tab: Page) -> list[Locator]:
    """Return the charts of a page, once all of it is drawn."""
    wait_until_sent(tab)
    expect(tab.get_by_role("heading").first).to_be_visible()
    expect(tab.get_by_test_id("stStatusWidget")).to_have_count(0)
    expect(tab.get_by_test_id("stSkeleton")).to_have_count(0)
    charts = tab.locator(CHARTS).all()
    for chart in charts:
        expect(chart.locator("canvas, svg").first).to_be_visible()
    return charts


def point_at(tab: Page, charts: list[Locator]) -> str:
    """Move the pointer over the charts, and return the texts of the tooltips."""
    tooltips = []
    for chart in charts:
        box = chart.bounding_box()
        assert box
        for x, y in MARKS:
            tab.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
            tab.evaluate(FRAMES)
            tooltips += tab.locator("#vg-tooltip-element.visible, .hint").all_inner_texts()
    return "\n".join(tooltips)


def assert_harmless(tab: Page) -> None:
    """Assert that no script ran, no name became an element, and the page fits its window."""
    tab.evaluate(AFTER_IMAGES)  # after the handlers of harmful images
    tab.evaluate(FRAMES)
    assert exceptions(tab) == []
    assert tab.evaluate("window.hacked === undefined")
    main = tab.get_by_test_id("stMain")
    assert main.locator("script, img[src=x], a[href^=javascript], [onerror]").count() == 0
    assert tab.evaluate("document.documentElement.scrollWidth") <= 1400
    assert tab.evaluate("document.body.innerHTML.length") < 1_000_000


VIEWS: list[tuple[str, list[int], dict[str, str]]] = [  # page, positions of runs, parameters
    ("runs", [], {}),
    ("runs", [0, 1], {"tag": f"{NAMES[0]}={NAMES[0]}", "group": f"tag {NAMES[0]}"}),
    ("overview", [0], {"step": NAMES[0], "device": NAMES[1]}),
    ("overview", [2, 0], {}),
    ("operators", [0], {"level": "kernel", "name": NAMES[0]}),
    ("operators", [0], {"level": "leaf", "q": NAMES[1]}),
    ("operators", [0, 1], {}),
    ("operators", [2], {"name": NAMES[1]}),
    ("kernels", [0], {"name": NAMES[0], "step": "all"}),
    ("kernels", [0], {"shape": NAMES[1], "q": NAMES[1]}),
    ("kernels", [0, 1], {}),
    ("roofline", [0], {"at": NAMES[0], "step": "all"}),
    ("roofline", [0], {"q": NAMES[1], "points": "kernel"}),
    ("roofline", [0, 1], {"points": "module"}),
    ("bubbles", [0], {"cause": "host"}),
    ("bubbles", [0, 1], {}),
    ("bubbles", [0], {"cause": NAMES[1], "from": NAMES[0], "device": NAMES[1]}),
    ("ranks", [0], {"order": NAMES[0], "step": NAMES[1]}),
    ("trends", [1], {"metric": "wall"}),
    ("trends", [1], {"metric": "busy", "x": "time", "log": "true", "model": NAMES[4]}),
    ("sql", [0], {"schema": NAMES[0], "sql": f'SELECT name AS "{NAMES[0]}" FROM ops'}),
    ("sql", [0], {"sql": f'SELECT "{NAMES[1]}"'}),
    ("sql", [0], {"sql": f"SELECT '{LONG[:3000]}' AS a, 1 AS \"{'y' * 3000}\""}),
]


def test_no_page_runs_a_name(tab, serve, harmful_store, runs):
    address = serve(harmful_store)
    shown = ""
    for page, picked, query in VIEWS:
        chosen = [("run", runs[number]) for number in picked]
        link = f"{address}/{page}?{urlencode([*chosen, *query.items()])}"
        if page == shown:
            change(tab, link)
        else:
            tab.goto(link)
        shown = page
        point_at(tab, drawn(tab))
        for name in tab.get_by_role("tab").all():
            name.click()
        assert_harmless(tab)


def test_tooltips_and_details_show_names_as_plain_text(tab, serve, harmful_store, runs):
    tab.goto(f"{serve(harmful_store)}/operators?{urlencode({'run': runs[0], 'step': 'all'})}")
    point_at(tab, drawn(tab))
    expect(tab.locator("td.name").first).to_be_attached()
    titles = tab.locator("td.name").evaluate_all("cells => cells.map(cell => cell.title)")
    assert set(NAMES[:-2]) <= set(titles)
    assert_harmless(tab)
    heading = tab.get_by_test_id("stColumn").last.get_by_role("heading", level=3)
    for name in NAMES[:-2]:
        tick(tab, titles.index(name))
        wait_for_query(tab, "name", name)
        wait_until_sent(tab)
        text = heading.inner_text().replace("\u2060", "")
        assert text == CONTROL.sub("�", " ".join(name.split()))
        expect(tab.get_by_role("tab", name="Shapes")).to_be_visible()
        assert_harmless(tab)
    tab.goto(tab.url)
    expect(tab.get_by_role("tab", name="Shapes")).to_be_visible()
    assert heading.inner_text().replace("\u2060", "") == text
    assert_harmless(tab)


def test_a_name_in_the_address_opens_its_details(app, harmful_store, runs):
    def check(name):
        page = app(harmful_store, "operators", run=runs[0], name=name, step="all")
        assert not page.exception
        assert "Shapes" in [tab.label for tab in page.tabs]

    check_each(NAMES, check)


def test_tags_find_their_runs(app, harmful_store, runs):
    def check(name):
        page = app(harmful_store, "runs", tag=f"{name}={name}")
        assert list(tables(page)[0]["run_id"]) == [runs[0]]

    check_each(NAMES[:5], check)


def test_a_tag_that_looks_like_a_parameter_is_a_literal(app, traces):
    added = traces.store.add(
        traces.write(events(["op", "other"], True)), ingest.AddOptions(tags={"$9": "="})
    )
    page = app(traces.store.path, "runs", tag="$9==")
    assert list(tables(page)[0]["run_id"]) == [added.run_id]
    assert "tags['$9'] = '='" in page.code[0].value


def test_an_unknown_run_is_named_as_in_the_address(tab, serve, harmful_store):
    tab.goto(f"{serve(harmful_store)}/operators?{urlencode({'run': NAMES[0]})}")
    expect(tab.get_by_role("alert").first).to_contain_text(f"There is no run {NAMES[0]} in")
    assert_harmless(tab)


def test_long_names_are_complete_in_downloads_and_in_sql(tab, serve, harmful_store, runs):
    query = urlencode({"run": runs[0], "q": "LONG", "step": "all"})
    tab.goto(f"{serve(harmful_store)}/operators?{query}")
    open_menu(tab, "ranking")
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="CSV", exact=True).click()
    (row,) = csv.DictReader(Path(waiting.value.path()).read_text().splitlines())
    assert row["name"] == LONG
    found = server.Sandbox(harmful_store).query(
        "SELECT DISTINCT name FROM ops WHERE name ILIKE '%long%'"
    )
    assert found.table.column("name").to_pylist() == [LONG]


COMMANDS = [["list"], ["show"], ["top"], ["top", "--by", "kernel"], ["sql", "FROM ops"]]


def test_commands_escape_names_on_the_terminal(command, harmful_store, runs):
    def check(arguments):
        text = command(*arguments, store=harmful_store).out
        assert not CONTROL.search(text)
        assert max(map(len, text.splitlines())) < 50_000
        if arguments[0] == "top":
            for name in ("[red]rich[/red] [link=http://x]y[/link]", r"two\nlines\tand\r\nmore"):
                assert name in text
            assert r"esc \x1b[31mred\x1b[0m \x1b]0;title\x07 back\x08" in text

    of_a_run = [
        [*arguments, run, *(["--limit", "50"] if arguments[0] == "top" else [])]
        for arguments in COMMANDS
        if arguments[0] in ("show", "top")
        for run in (runs[0], runs[2])
    ]
    check_each([COMMANDS[0], COMMANDS[-1], *of_a_run], check)


def test_machine_readable_output_has_the_original_names(command, harmful_store):
    query = ("sql", "SELECT DISTINCT op AS name FROM kernels", "--format")
    text = command(*query, "csv", store=harmful_store).out
    assert {row["name"] for row in csv.DictReader(io.StringIO(text, newline=""))} == set(NAMES)
    rows = json.loads(command(*query, "json", store=harmful_store).out)
    assert {row["name"] for row in rows} == set(NAMES)
    parquet = subprocess.run(
        [sys.executable, "-m", "ingest", *query, "parquet", "--store", str(harmful_store)],
        capture_output=True,
        check=True,
    )
    table = pq.read_table(io.BytesIO(parquet.stdout))
    assert set(table.column("name").to_pylist()) == set(NAMES)


def test_runs_with_harmful_names_are_found_and_removed(command, traces):
    labels = ingest.AddOptions(name="'; DROP TABLE runs;--")
    added = traces.store.add(traces.write(events(NAMES, True)), labels)
    removed = command("remove", "'; DROP TABLE runs;--", store=traces.store.path)
    assert removed.out.strip() == f"removed {added.run_id}"
    assert traces.store.run_ids() == []
