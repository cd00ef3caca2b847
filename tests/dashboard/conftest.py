"""Fixtures: stores of real runs, the dashboard served on them, and Chromium."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

import ingest
from tests.dashboard.browser import exceptions
from tests.dashboard.server import served
from tests.samples import COMPILED, EAGER, TWO_RANKS, Samples

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "dashboard" / "main.py"
OWLV2, WORKERS0, WORKERS4 = "h100_owlv2", "v100_resnet50_workers0", "v100_resnet50_workers4"
CPU, MI300 = "flux_eager_full", "mi300_owlv2"
PATIENCE_MS = 20_000
SNAPSHOTS = (
    "train_ctx512",
    "train_ctx128",
    "full_history_annotations",
    "private_pools_no_history",
)
RunOf = Callable[[str], str]


@pytest.fixture(scope="session")
def shown_store(sampled: Samples) -> Path:
    """A store of traces: with a data loader, with a busy host, of a CPU only, and of two ranks."""
    return sampled.store(OWLV2, WORKERS0, WORKERS4, CPU, TWO_RANKS)


@pytest.fixture(scope="session")
def run_of(shown_store: Path) -> RunOf:
    """Return the id of the run with a name in the shown store."""
    return ingest.Store(shown_store).find


@pytest.fixture(scope="session")
def compared_store(sampled: Samples) -> Path:
    """A store of an eager and a compiled run, with a compile log, and a model on two devices."""
    return sampled.store(EAGER, COMPILED, OWLV2, MI300)


@pytest.fixture(scope="session")
def compared_run(compared_store: Path) -> RunOf:
    """Return the id of the run with a name in the compared store."""
    return ingest.Store(compared_store).find


@pytest.fixture(scope="session")
def memory_store(sampled: Samples) -> Path:
    """A store of snapshots with and without history, and of traces with and without memory."""
    return sampled.store(*SNAPSHOTS, CPU, WORKERS0, "memory_timeline.raw", "two_rank_rank0")


@pytest.fixture(scope="session")
def memory_run(memory_store: Path) -> RunOf:
    """Return the id of the run with a name in the store of snapshots."""
    return ingest.Store(memory_store).find


@pytest.fixture(scope="session")
def page_hashes() -> dict[str, str]:
    """Streamlit's hash of each page. `app` fills it in."""
    return {}


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch, page_hashes: dict[str, str]) -> Callable[..., AppTest]:
    """Run a page of the dashboard on a store, without a browser."""

    def run(store: Path, page: str, **query: str | list[str]) -> AppTest:
        monkeypatch.setenv("TRACEHOUSE_STORE", str(store))
        monkeypatch.setattr(sys, "argv", ["streamlit"])
        # The scan reads the metadata of all packages for each page. A server does it once.
        monkeypatch.setattr(manifest_scanner, "scan_component_manifests", list)
        tested = AppTest.from_file(str(PAGES), default_timeout=60)
        for key, value in query.items():
            tested.query_params[key] = value
        if page not in page_hashes:
            pages = tested.run().session_state["pages"]
            page_hashes.update({name: each._script_hash for name, each in pages.items()})
        # AppTest has no public way to open a page that is a function.
        tested._page_hash = page_hashes[page]
        tested.run()
        assert tested.main.children, f"nothing was drawn on page {page}"
        return tested

    return run


@pytest.fixture(scope="module")
def opened_pages() -> dict[str, AppTest]:
    """The pages that tests of a file have opened. `opened` fills it in."""
    return {}


@pytest.fixture
def opened(app: Callable[..., AppTest], opened_pages: dict[str, AppTest]) -> Callable[..., AppTest]:
    """As `app`, for tests that only read the page: tests of a file share it."""

    def run(store: Path, page: str, **query: str | list[str]) -> AppTest:
        key = repr((store, page, query))
        if key not in opened_pages:
            opened_pages[key] = app(store, page, **query)
        return opened_pages[key]

    return run


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[[Path], str]]:
    """Serve the dashboard on a store as users do, and return its address."""
    with ExitStack() as servers:
        yield cache(lambda store: servers.enter_context(served(store)))


@pytest.fixture(scope="session")
def address(serve: Callable[[Path], str], shown_store: Path) -> str:
    """The address of the dashboard on the shown store."""
    return serve(shown_store)


@pytest.fixture(scope="session")
def window(chromium: Browser) -> Iterator[BrowserContext]:
    """A window that is tall enough for a page. Its tabs share a cache."""
    with chromium.new_context(viewport={"width": 1400, "height": 2000}) as context:
        context.set_default_timeout(PATIENCE_MS)
        yield context


@pytest.fixture
def tab(window: BrowserContext) -> Iterator[Page]:
    """A new tab. The test fails if a page shows an exception in it."""
    page = window.new_page()
    yield page
    try:
        shown = exceptions(page)
        if page.url.startswith("http"):
            page.evaluate("localStorage.clear()")  # clear what Streamlit stores per user
    finally:
        page.close()
    assert shown == []
