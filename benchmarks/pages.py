"""Measures the pages of the dashboard in a fresh browser: `python benchmarks/pages.py --store DIR`.

DIR is a store of `benchmarks/store.py`. This script adds traces of 0.13 and 2.19 million events and
a memory snapshot to it. A page is measured from its address until its last element is drawn, in a
browser that has loaded nothing before. It is compared with a Streamlit page of one word. A click is
measured in a page that is already drawn. The server's part is the time to run the page's script and
to send its elements. The first page is measured from the start of the server, when a user begins to
wait. The script prints limits but does not enforce them, because times depend on the machine.
"""

import argparse
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Locator, Page, WebSocket, sync_playwright

ROOT = Path(__file__).parent.parent
sys.path[0] = str(ROOT)  # otherwise `import ingest` finds benchmarks/ingest.py

import ingest  # noqa: E402
from ingest.cli.terminal import results, table  # noqa: E402

SAMPLES = Path(os.environ.get("TRACE_SAMPLES", ROOT.parent / "shared" / "samples"))
SHOWN, OTHER = "h100_owlv2", "mi300_owlv2"  # 0.13 million events each
LARGE = "flux_compile_cachehit_stack"  # 2.19 million
STEPS = "v100_resnet50_workers0"  # the run for clicks on steps
SNAPSHOT = "train_ctx512"
FILES = {
    SHOWN: "traces/h100_owlv2.json.gz",
    OTHER: "traces/mi300_owlv2.json.gz",
    LARGE: "large/flux_compile_cachehit_stack.json.gz",
    STEPS: "traces/v100_resnet50_workers0.pt.trace.json.gz",
    SNAPSHOT: "snapshots/train_ctx512.pickle",
}
PAGES_OF_RUN = ("overview", "operators", "timeline", "modules", "bubbles", "streams", "advice")
CHROMIUMS = ("chromium-headless-shell", "chromium")
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
# Limits in seconds. MORE is relative to the empty page, MORE_LARGE too, for 2.19 million events.
FIRST_PAGE = 4.0
MORE, MORE_LARGE = 0.7, 1.0
CLICK = 0.5
# Records the time of the last change in the page or on a canvas.
WATCH = """
    window.changed = 0;
    const note = () => { window.changed = performance.now(); };
    const observer = new MutationObserver(note);
    const all = {subtree: true, childList: true, characterData: true, attributes: true};
    observer.observe(document, all);
    const attach = Element.prototype.attachShadow;  // tables are drawn in shadow roots
    Element.prototype.attachShadow = function (...given) {
        const root = attach.apply(this, given);
        observer.observe(root, all);
        return root;
    };
    for (const name of ['fillText', 'fillRect', 'fill', 'stroke', 'drawImage']) {
        const draw = CanvasRenderingContext2D.prototype[name];
        CanvasRenderingContext2D.prototype[name] = function (...given) {
            note();
            return draw.apply(this, given);
        };
    }
"""
IS_DRAWN = """() => {
    const app = document.querySelector('[data-testid="stApp"]');
    const charts = [...document.querySelectorAll('[data-testid="stVegaLiteChart"]')];
    return app?.dataset.testScriptState === 'notRunning'
        && document.querySelector('h1, [data-testid="stMarkdown"]')
        && !document.querySelector('[data-testid="stSkeleton"], [data-testid="stAppSkeleton"]')
        && charts.every(chart => chart.querySelector('canvas, svg'))
        && performance.now() - window.changed > 700;
}"""
CLICKED = "window.changed = performance.now()"


class Taken(NamedTuple):
    """The seconds that a user waits, and the server's part of them."""

    seconds: float
    server: float


class Measured(NamedTuple):
    """A repeated measurement. Its limit in seconds is absolute, or relative to the empty page."""

    what: str
    taken: list[Taken]
    more: float | None = None
    limit: float | None = None


Click = tuple[str, str, Callable[[Page], Locator]]  # name, path of the page, element to click


@contextmanager
def served(script: Path, *arguments: str) -> Iterator[str]:
    """Serve a Streamlit script. Yield its address once the server answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--server.headless=true", f"--server.port={port}", "--server.fileWatcherType=none"]
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", str(script), *options, "--", *arguments],
        cwd=script.parent,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        while not _answers(f"{address}/_stcore/health"):
            if process.poll() is not None:
                raise SystemExit(f"{script}: the server ended with {process.returncode}")
            time.sleep(0.02)
        yield address
    finally:
        process.terminate()
        process.wait()


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=2):
            return True
    except OSError:
        return False


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a browser that has loaded nothing yet, preferably the system's."""
    with sync_playwright() as playwright:
        system = next(filter(None, map(shutil.which, CHROMIUMS)), None)
        browser = playwright.chromium.launch(executable_path=system, args=list(OPTIONS))
        yield browser
        browser.close()


def load(address: str, click: Callable[[Page], Locator] | None = None) -> Taken:
    """Measure a page in a fresh browser until all is drawn, from its address or from a click."""
    with chromium() as browser:
        tab = browser.new_page(viewport={"width": 1600, "height": 1400})
        tab.add_init_script(WATCH)
        sent: list[float] = []
        received: list[float] = []

        def watch(socket: WebSocket) -> None:
            socket.on("framesent", lambda _: sent.append(time.perf_counter()))
            socket.on("framereceived", lambda _: received.append(time.perf_counter()))

        tab.on("websocket", watch)
        tab.goto(address, wait_until="commit")
        tab.wait_for_function(IS_DRAWN, polling=50, timeout=60_000)
        began = 0.0
        if click:
            target = click(tab)
            target.scroll_into_view_if_needed()
            tab.wait_for_function(IS_DRAWN, polling=50, timeout=60_000)
            sent.clear()
            received.clear()
            began = float(tab.evaluate(CLICKED))
            target.click()
            tab.mouse.move(0, 0)  # a tooltip under the pointer would count as a change
            tab.wait_for_function(IS_DRAWN, polling=50, timeout=60_000)
        drawn = float(tab.evaluate("window.changed"))
    server = received[-1] - sent[0] if sent and received else 0.0
    return Taken((drawn - began) / 1000, server)


def row(heading: str) -> Callable[[Page], Locator]:
    """Return a function that finds the first row of the selectable table with this column."""
    table = f".grid table:has(th:text-is('{heading}'))"
    return lambda tab: tab.locator(f"{table} tr.choice").first


def prepared(store: ingest.Store) -> dict[str, str]:
    """Return the ids of the measured runs by name. Add those that the store lacks."""
    names = {run.rpartition("-")[0]: run for run in store.run_ids()}
    for name, file in FILES.items():
        if name not in names:
            store.add(SAMPLES / file)
    names = {run.rpartition("-")[0]: run for run in store.run_ids()}
    return {name: names[name] for name in FILES}


def clicks(runs: dict[str, str]) -> list[Click]:
    """Return the clicks to measure: the most frequent ones."""
    run, compared = runs[SHOWN], f"compare?base={runs[SHOWN]}&other={runs[OTHER]}"
    return [
        ("step", f"overview?run={runs[STEPS]}", lambda tab: tab.locator(".steps .bar").nth(1)),
        ("kernel of Overview", f"overview?run={run}", row("name")),
        ("operator", f"operators?run={run}", row("operator")),
        ("idle cause", f"bubbles?run={run}", row("cause")),
        ("change of Compare", compared, row("evidence")),
        ("run", "runs", row("run")),
        ("query", "sql", lambda tab: tab.get_by_role("button", name="Run", exact=True)),
        ("page", f"overview?run={run}", lambda tab: tab.get_by_role("link", name="Operators")),
    ]


def measure(store: ingest.Store, times: int, only: str) -> Iterator[Measured]:
    """Measure the empty page, the pages of the store's dashboard, and clicks."""
    runs = prepared(store)
    with tempfile.TemporaryDirectory() as directory:
        script = Path(directory) / "empty.py"
        script.write_text("import streamlit\n\nstreamlit.write('hello')\n")
        with served(script) as address:
            yield Measured("an empty page", [load(address) for _ in range(times)])
    dashboard = ROOT / "dashboard" / "app.py"
    starts = []
    for _ in range(0 if only else times):
        began = time.perf_counter()
        with served(dashboard, "--store", str(store.path)) as address:
            answered = time.perf_counter() - began
            page = load(f"{address}/runs")
            starts.append(Taken(answered + page.seconds, answered + page.server))
    if starts:
        yield Measured("the first page after the server's start", starts, limit=FIRST_PAGE)
    pages = [
        *((name, f"{name}?run={runs[SHOWN]}", MORE) for name in PAGES_OF_RUN),
        ("memory", f"memory?run={runs[SNAPSHOT]}", MORE),
        *((name, name, MORE) for name in ("runs", "sweeps", "trends", "sql")),
        ("compare", f"compare?base={runs[SHOWN]}&other={runs[OTHER]}", MORE),
        *((f"{name}, large", f"{name}?run={runs[LARGE]}", MORE_LARGE) for name in PAGES_OF_RUN),
    ]
    with served(dashboard, "--store", str(store.path)) as address:
        for name, path, more in pages:
            if only in name:
                load(f"{address}/{path}")
                taken = [load(f"{address}/{path}") for _ in range(times)]
                yield Measured(name, taken, more)
        for what, path, click in clicks(runs):
            if only in what:
                taken = [load(f"{address}/{path}", click) for _ in range(times)]
                yield Measured(f"a click on: {what}", taken, limit=CLICK)


def main() -> None:
    """Run the measurements and print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--times", type=int, default=5, help="repetitions of each measurement")
    parser.add_argument("--only", default="", help="only pages and clicks whose name contains this")
    args = parser.parse_args()
    measured = []
    for each in measure(ingest.Store(args.store), args.times, args.only):
        print(each.what, *(f"{taken.seconds:.2f}" for taken in each.taken), file=sys.stderr)
        measured.append(each)
    empty = statistics.median(taken.seconds for taken in measured[0].taken)
    rows = []
    for what, taken, more, limit in measured:
        seconds = statistics.median(each.seconds for each in taken)
        allowed = empty + more if more else limit
        rows.append(
            (
                what,
                f"{allowed:.2f}" if allowed else "",
                f"{seconds:.2f}",
                f"{min(each.seconds for each in taken):.2f}",
                f"{statistics.median(each.server for each in taken):.2f}",
            )
        )
    columns = ("seconds for", "limit", "median", "fastest", "the server's part")
    results().print(table(columns, rows, right=columns[1:]))


if __name__ == "__main__":
    main()
