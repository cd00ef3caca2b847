"""How long the pages take in a fresh browser: `python benchmarks/pages.py --store DIR`.

DIR is a store of `benchmarks/store.py`. A page is measured from its address to the last thing that
it draws, in a browser that has loaded nothing before, beside a Streamlit page with one word. The
first row is from the start of the server, the moment at which a user begins to wait. It prints
each figure beside the limit that we set, and judges nothing: figures depend on the machine.
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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parent.parent
sys.path[0] = str(ROOT)  # else benchmarks/ingest.py is what `import ingest` finds

import ingest  # noqa: E402
from ingest.terminal import results, table  # noqa: E402

SHOWN = "two_rank"  # the run that is looked at
CHROMIUMS = ("chromium-headless-shell", "chromium")
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
LIMITS = {"first page": 4.0, "sql": 2.0, "compare": 2.0}
# The moment of the last change, in the page or on a canvas. The text that a table has for screen
# readers is no change: it follows 0.2 s after the table.
WATCH = """
    window.changed = 0;
    const note = () => { window.changed = performance.now(); };
    const observer = new MutationObserver(changes => {
        for (const change of changes) {
            const node = change.target;
            if (!(node.nodeType === 1 ? node : node.parentElement)?.closest('canvas')) note();
        }
    });
    const all = {subtree: true, childList: true, characterData: true, attributes: true};
    observer.observe(document, all);
    const attach = Element.prototype.attachShadow;  // tables are drawn in roots of their own
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

Measured = tuple[str, list[float]]  # what, seconds


@contextmanager
def served(script: Path, *arguments: str) -> Iterator[str]:
    """A Streamlit script; gives its address as soon as that answers."""
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
    """A browser that has loaded nothing yet: the system's where there is one."""
    with sync_playwright() as playwright:
        system = next(filter(None, map(shutil.which, CHROMIUMS)), None)
        browser = playwright.chromium.launch(executable_path=system, args=list(OPTIONS))
        yield browser
        browser.close()


def seconds(address: str) -> float:
    """From the address, in a fresh browser, until all is drawn."""
    with chromium() as browser:
        tab = browser.new_page(viewport={"width": 1600, "height": 1400})
        tab.add_init_script(WATCH)
        tab.goto(address, wait_until="commit")
        tab.wait_for_function(IS_DRAWN, polling=50, timeout=60_000)
        return float(tab.evaluate("window.changed")) / 1000


def measure(store: ingest.Store, times: int) -> Iterator[Measured]:
    """The pages of the store's dashboard, the emptiest first."""
    run, other = [run for run in store.run_ids() if run.startswith(SHOWN)][:2]
    with tempfile.TemporaryDirectory() as directory:
        script = Path(directory) / "empty.py"
        script.write_text("import streamlit\n\nstreamlit.write('hello')\n")
        with served(script) as address:
            yield "an empty page", [seconds(address) for _ in range(times)]
    dashboard = ROOT / "dashboard" / "app.py"
    starts = []
    for _ in range(times):
        began = time.perf_counter()
        with served(dashboard, "--store", str(store.path)) as address:
            answered = time.perf_counter() - began
            starts.append(answered + seconds(f"{address}/runs"))
    yield "first page", starts
    pages = {name: f"{name}?run={run}" for name in ("overview", "operators", "bubbles", "advice")}
    pages |= {"runs": "runs", "trends": "trends", "sql": "sql"}
    pages["compare"] = f"compare?base={run}&other={other}"
    with served(dashboard, "--store", str(store.path)) as address:
        for name, path in pages.items():
            seconds(f"{address}/{path}")
            yield name, [seconds(f"{address}/{path}") for _ in range(times)]


def main() -> None:
    """Measures, prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--times", type=int, default=5, help="of each measurement")
    asked = parser.parse_args()
    measured = dict(measure(ingest.Store(asked.store), asked.times))
    empty = statistics.median(measured["an empty page"])
    rows = [
        (
            what,
            f"{LIMITS[what]:.1f}" if what in LIMITS else "",
            f"{statistics.median(taken):.2f}",
            f"{min(taken):.2f}",
            f"{statistics.median(taken) / empty:.1f}",
        )
        for what, taken in measured.items()
    ]
    columns = ("seconds for", "limit", "median", "fastest", "× empty page")
    results().print(table(columns, rows, right=columns[1:]))


if __name__ == "__main__":
    main()
