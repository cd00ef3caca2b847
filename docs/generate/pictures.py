"""Regenerate the pictures of the docs: `python -m docs.generate.pictures SAMPLES`.

Add sample profiles from the directory SAMPLES to a store, serve the dashboard on it and take
screenshots in Chromium. Needs the extra `test`.
"""

import sys
import tempfile
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, ViewportSize

import ingest
from docs.generate.pages import DOCS
from tests.dashboard.server import served
from tests.helpers.chromium import launched

IMAGES = DOCS / "images"
WORKERS = "v100_resnet50_workers0"
SNAPSHOT = "train_ctx512"
MODEL = "h100_owlv2"
# For each picture: the page, the height in pixels, and the theme.
PICTURES: dict[str, tuple[str, int, Literal["light", "dark"]]] = {
    "overview": (f"overview?run={{{WORKERS}}}", 1180, "light"),
    "operators": (f"operators?run={{{WORKERS}}}&name=aten::conv2d", 900, "light"),
    "timeline": (f"timeline?run={{{WORKERS}}}", 1150, "light"),
    "streams": (f"streams?run={{{WORKERS}}}", 1050, "light"),
    "modules": (f"modules?run={{{MODEL}}}", 900, "light"),
    "kernels": (f"kernels?run={{{MODEL}}}", 900, "light"),
    "roofline": (f"roofline?run={{{MODEL}}}", 900, "light"),
    "bubbles": (f"bubbles?run={{{WORKERS}}}", 900, "dark"),
    "memory": (f"memory?run={{{SNAPSHOT}}}", 950, "light"),
}
WIDTH = 1400
PERFETTO = "iframe[src*='/perfetto/view']"
FIRST_TRACK = "steps, idle time and critical path"
PERFETTO_MS = 5_000  # time to draw, after the first track is there
STORE = "store"
DRAWN = """() =>
    document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === 'notRunning'
    && document.querySelector('h1')"""


def main(samples: Path) -> None:
    """Write the pictures to `docs/images`."""
    with tempfile.TemporaryDirectory() as directory:
        store = ingest.Store(Path(directory) / STORE)
        files = {path.name.split(".")[0]: path for path in samples.rglob("*") if path.is_file()}
        runs = {name: store.add(files[name]).run_id for name in (WORKERS, SNAPSHOT, MODEL)}
        with served(Path(STORE), directory=Path(directory)) as address, launched() as browser:
            for name, (page, height, theme) in PICTURES.items():
                window: ViewportSize = {"width": WIDTH, "height": height}
                tab = browser.new_page(viewport=window, color_scheme=theme)
                tab.goto(f"{address}/{page.format(**runs)}")
                _settle(tab)
                if name == "timeline":
                    perfetto = tab.frame_locator(PERFETTO).frame_locator("iframe")
                    perfetto.get_by_text(FIRST_TRACK).first.wait_for(timeout=120_000)
                    tab.wait_for_timeout(PERFETTO_MS)
                tab.screenshot(path=IMAGES / f"{name}.png")


def _settle(tab: Page) -> None:
    """Wait until the page is drawn and nothing moves."""
    tab.wait_for_function(DRAWN)
    tab.wait_for_timeout(2_000)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
