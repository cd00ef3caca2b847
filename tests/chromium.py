"""Chromium without a window: the system's where there is one, else playwright's own."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

SYSTEM_CHROMIUMS = ("chromium-headless-shell", "chromium")  # the first one draws no window


@contextmanager
def launched() -> Iterator[Browser]:
    """A browser that ends with the block."""
    found = next(filter(None, map(shutil.which, SYSTEM_CHROMIUMS)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found,
            args=[
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
            ],
        )
        yield browser
        browser.close()
