"""Measures timelines: `python benchmarks/timeline.py [--repeat N]`.

Adds traces of 0.05, 0.13 and 2.19 million events to a store. Then measures, each N times and in
turn: `ingest export --chrome` of a run and of a step as a complete process, with its peak memory,
compared with a bare copy of the same bytes; and in a browser, the time from a click on a step of
page Timeline until Perfetto has loaded the step. The script checks no limits, because times depend
on the machine.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, expect

ROOT = Path(__file__).parent.parent
sys.path[0] = str(ROOT)  # otherwise `import ingest` finds benchmarks/ingest.py

import ingest  # noqa: E402
from benchmarks.pages import chromium, served  # noqa: E402
from ingest.cli.terminal import results, table  # noqa: E402

SAMPLES = Path(os.environ.get("TRACE_SAMPLES", ROOT.parent / "shared" / "samples"))
FILES = (
    "traces/mi300_resnet_ddp_rank0.json.gz",
    "traces/h100_owlv2.json.gz",
    "large/flux_compile_cachehit_stack.json.gz",
)
# A step of 47,000 events, with flow arrows. It is not the median, which the page shows at first.
CLICKED = ("mi300_resnet_ddp_rank0", 15)
EXPORTS = (("mi300_resnet_ddp_rank0", 17), ("h100_owlv2", None), (FILES[2][6:-8], None),
           (FILES[2][6:-8], 0), (FILES[2][6:-8], 1))  # fmt: skip
MB = 1_000_000
POLL_SECONDS = 0.005


def exported(store: Path, run: str, step: int | None, file: Path) -> tuple[float, float]:
    """Export a run or a step. Return the seconds of the command and its peak memory in MB."""
    options = [] if step is None else ["--step", str(step)]
    program = str(Path(sys.executable).with_name("ingest"))
    command = [program, "export", run, "--store", str(store), "--chrome", str(file), *options]
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        status = Path(f"/proc/{process.pid}/status").read_text()
        peak = max([peak, *map(int, re.findall(r"VmHWM:\s+(\d+) kB", status))])
        time.sleep(POLL_SECONDS)
    seconds = time.perf_counter() - began
    if process.returncode:
        raise SystemExit(f"ingest export of {run} failed")
    return seconds, peak * 1024 / MB


def copied(file: Path) -> float:
    """Return the seconds of a bare copy of the file."""
    began = time.perf_counter()
    shutil.copyfile(file, file.with_suffix(".copy"))
    return time.perf_counter() - began


def clicked(tab: Page, address: str, run: str, step: int) -> float:
    """Return the seconds from a click on the step until Perfetto shows it."""
    tab.goto(f"{address}/timeline?run={run}")
    frame = tab.frame_locator("iframe[src*='/perfetto/view']").frame_locator("iframe")
    shown = frame.get_by_text("steps, idle time").first
    shown.wait_for()
    before = tab.locator("iframe[src*='/perfetto/view']").get_attribute("src")
    bar = tab.locator(f".steps [aria-label^='Step {step}:']")
    bar.wait_for()
    began = time.perf_counter()
    bar.click()
    expect(tab.locator("iframe[src*='/perfetto/view']")).not_to_have_attribute("src", before or "")
    shown.wait_for()
    return time.perf_counter() - began


def main() -> None:
    """Run the measurements and print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    rows = []
    with tempfile.TemporaryDirectory() as directory:
        store = ingest.Store(Path(directory) / "store")
        for file in FILES:
            store.add(SAMPLES / file)
        out = Path(directory) / "out.json"
        for run, step in EXPORTS:
            taken, copies = [], []
            for _ in range(repeat):
                taken.append(exported(store.path, run, step, out))
                copies.append(copied(out))
            seconds = statistics.median(each for each, _ in taken)
            size = out.stat().st_size / MB
            rows.append(
                (
                    f"{run}, {'complete' if step is None else f'step {step}'}",
                    f"{size:,.1f}",
                    f"{seconds:.2f}",
                    f"{min(each for each, _ in taken):.2f}",
                    f"{size / seconds:,.0f}",
                    f"{statistics.median(copies):.2f}",
                    f"{max(peak for _, peak in taken):,.0f}",
                )
            )
        columns = ("export of", "MB", "median s", "fastest", "MB/s", "bare copy s", "peak RSS MB")
        results().print(table(columns, rows, right=columns[1:]))
        dashboard = ROOT / "dashboard" / "app.py"
        with served(dashboard, "--store", str(store.path)) as address, chromium() as browser:
            tab = browser.new_page(viewport={"width": 1600, "height": 1400})
            run = store.find(CLICKED[0])
            seconds_of = [clicked(tab, address, run, CLICKED[1]) for _ in range(repeat)]
        results().print(
            f"\nfrom a click on a step of 47,000 events to Perfetto: median "
            f"{statistics.median(seconds_of):.2f} s, fastest {min(seconds_of):.2f} s"
        )


if __name__ == "__main__":
    main()
