"""A headless Chromium: the system's if there is one, else playwright's."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

SYSTEM_CHROMIUMS = ("chromium-headless-shell", "chromium")  # the first one is always headless


@contextmanager
def launched() -> Iterator[Browser]:
    """Launch a browser that ends with the body."""
    found = next(filter(None, map(shutil.which, SYSTEM_CHROMIUMS)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found,
            args=[
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
                "--js-flags=--liftoff-only",  # does not optimise WebAssembly: Perfetto opens faster
            ],
        )
        yield browser
        browser.close()
