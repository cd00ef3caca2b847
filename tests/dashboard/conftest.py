"""Fixtures: stores of real runs, the dashboard served on them, and Chromium."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

import ingest
from tests.dashboard.browser import PATIENCE_MS, STILL, exceptions
from tests.dashboard.server import Dashboard, started
from tests.helpers.samples import COMPILED, EAGER, TWO_RANKS, Samples

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "dashboard" / "main.py"
OWLV2, WORKERS0, WORKERS4 = "h100_owlv2", "v100_resnet50_workers0", "v100_resnet50_workers4"
CPU, MI300 = "flux_eager_full", "mi300_owlv2"
PATIENCE_S = 600
SNAPSHOTS = (
    "train_ctx512",
    "train_ctx128",
    "full_history_annotations",
    "private_pools_no_history",
)
NETWORK, TWO_DEVICES, SAME_NETWORK = "prof_embed", "prof_async", "prof_iter3"
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
def network_store(sampled: Samples) -> Path:
    """A store of MegEngine profiles: with one and two comp nodes, and two of one network."""
    return sampled.store(NETWORK, TWO_DEVICES, SAME_NETWORK)


@pytest.fixture(scope="session")
def page_hashes() -> dict[str, str]:
    """Streamlit's hash of each page. `app` fills it in."""
    return {}


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """A function that returns the dashboard with options, without a browser. It has not run yet."""

    def prepared(*options: str) -> AppTest:
        monkeypatch.setattr(sys, "argv", ["streamlit", *options])
        # The scan reads the metadata of all packages for each page. A server does it once.
        monkeypatch.setattr(manifest_scanner, "scan_component_manifests", list)
        return AppTest.from_file(str(PAGES), default_timeout=PATIENCE_S)

    return prepared


@pytest.fixture
def app(
    script: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch, page_hashes: dict[str, str]
) -> Callable[..., AppTest]:
    """Run a page of the dashboard on a store, without a browser, perhaps with options."""

    def run(store: Path, page: str, *options: str, **query: str | list[str]) -> AppTest:
        monkeypatch.setenv("TRACEHOUSE_STORE", str(store))
        tested = script(*options)
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
    """A function that shows a store, and returns the address of the dashboard.

    All tests of a process share one dashboard, which is served as users do. It shows one store at a
    time.
    """
    with ExitStack() as servers:
        running: list[Dashboard] = []

        def show(store: Path) -> str:
            if not running:
                running.append(servers.enter_context(started(store)))
            return running[0].show(store)

        yield show


@pytest.fixture
def address(serve: Callable[[Path], str], shown_store: Path) -> str:
    """The address of the dashboard on the shown store."""
    return serve(shown_store)


@pytest.fixture(scope="session")
def window(chromium: Browser) -> Iterator[BrowserContext]:
    """A window that is tall enough for a page. Its tabs share a cache."""
    size: ViewportSize = {"width": 1400, "height": 2000}
    with chromium.new_context(viewport=size, reduced_motion="reduce") as context:
        context.set_default_timeout(PATIENCE_MS)
        context.add_init_script(STILL)
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
