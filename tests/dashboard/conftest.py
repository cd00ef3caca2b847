"""A store of a few real runs, the dashboard served on it, and Chromium to look at it."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from streamlit.testing.v1 import AppTest

import ingest

ROOT = Path(__file__).parents[2]
APP = ROOT / "dashboard" / "app.py"
OWLV2, WORKERS0, WORKERS4 = "h100_owlv2", "v100_resnet50_workers0", "v100_resnet50_workers4"
CPU, TWO_RANKS = "flux_eager_full", "two_rank"
PATIENCE_MS = 20_000
EAGER, COMPILED, MI300 = "flux_eager_b2", "flux_compiled_b2", "mi300_owlv2"


@pytest.fixture(scope="session")
def shown_store(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Traces with a data loader, with a busy host, of a CPU alone, and of two ranks."""
    directory = tmp_path_factory.mktemp("shown")
    ranks = directory / TWO_RANKS
    ranks.mkdir()
    for trace in (samples / "traces").glob("two_rank_rank*.json.gz"):
        shutil.copy(trace, ranks)
    store = ingest.Store(directory / "store")
    names = [f"{OWLV2}.json.gz", f"{WORKERS0}.pt.trace.json.gz", f"{WORKERS4}.pt.trace.json.gz"]
    for path in [*names, f"cpu/{CPU}.json.gz"]:
        store.add(samples / "traces" / path)
    store.add(ranks)
    return store.path


@pytest.fixture(scope="session")
def run_of(shown_store: Path) -> Callable[[str], str]:
    """The run id of a name in the shown store."""
    return ingest.Store(shown_store).find


@pytest.fixture(scope="session")
def compared_store(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An eager run and the same compiled, with its compile log; one model on two devices."""
    directory = tmp_path_factory.mktemp("compared")
    compiled = directory / COMPILED
    compiled.mkdir()
    for path in (samples / "compile").glob(f"{COMPILED}*"):
        shutil.copy(path, compiled)
    store = ingest.Store(directory / "store")
    trace = samples / "compile" / f"{EAGER}-rank0.trace.json.gz"
    store.add(trace, ingest.RunLabels(name=EAGER))
    store.add(compiled)
    for name in (OWLV2, MI300):
        store.add(samples / "traces" / f"{name}.json.gz")
    return store.path


@pytest.fixture(scope="session")
def compared_run(compared_store: Path) -> Callable[[str], str]:
    """The run id of a name in the compared store."""
    return ingest.Store(compared_store).find


SNAPSHOTS = (
    "train_ctx512",
    "train_ctx128",
    "full_history_annotations",
    "private_pools_no_history",
)


@pytest.fixture(scope="session")
def memory_store(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Snapshots with and without history, traces of a CPU and without addresses, one without."""
    store = ingest.Store(tmp_path_factory.mktemp("memory") / "store")
    for name in SNAPSHOTS:
        store.add(samples / "snapshots" / f"{name}.pickle")
    traces = [f"cpu/{CPU}", f"{WORKERS0}.pt.trace", "memory_timeline.raw", "two_rank_rank0"]
    for name in traces:
        store.add(samples / "traces" / f"{name}.json.gz")
    return store.path


@pytest.fixture(scope="session")
def memory_run(memory_store: Path) -> Callable[[str], str]:
    """The run id of a name in the store of snapshots."""
    return ingest.Store(memory_store).find


@pytest.fixture(scope="session")
def truth(samples: Path) -> dict[str, Any]:
    """Figures of the sample traces, computed without this program."""
    return dict(json.loads((samples / "expected" / "truth.json").read_text()))


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """A page of the dashboard on a store, run without a browser."""

    def run(store: Path, page: str, **query: str | list[str]) -> AppTest:
        monkeypatch.setenv("TRACEHOUSE_STORE", str(store))
        monkeypatch.setattr(sys, "argv", ["streamlit"])
        tested = AppTest.from_file(str(APP), default_timeout=60)
        for key, value in query.items():
            tested.query_params[key] = value
        tested.run()
        # AppTest has no public way to a page that is a function.
        tested._page_hash = tested.session_state["pages"][page]._script_hash
        return tested.run()

    return run


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[[Path], str]]:
    """Serve the dashboard on a store as users do; returns its address."""
    servers: dict[Path, tuple[str, subprocess.Popen[bytes]]] = {}

    def start(store: Path) -> str:
        if store not in servers:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            command = [sys.executable, "-m", "streamlit", "run", str(APP)]
            options = ["--server.headless=true", f"--server.port={port}"]
            process = subprocess.Popen(
                [*command, *options, "--", "--store", str(store)],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            servers[store] = (f"http://127.0.0.1:{port}", process)
            _wait_for(f"http://127.0.0.1:{port}/_stcore/health")
        return servers[store][0]

    yield start
    for _, process in servers.values():
        process.terminate()
        process.wait(timeout=20)


def _wait_for(address: str) -> None:
    for _ in range(150):
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail(f"{address} does not answer")


@pytest.fixture(scope="session")
def address(serve: Callable[[Path], str], shown_store: Path) -> str:
    """The dashboard on the shown store."""
    return serve(shown_store)


@pytest.fixture
def tab(chromium: Browser) -> Iterator[Page]:
    """A fresh tab, tall enough for a page; it fails the test that makes a page say an exception."""
    context = chromium.new_context(viewport={"width": 1400, "height": 2000})
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    yield page
    exceptions = page.get_by_test_id("stException").all_inner_texts()
    context.close()
    assert exceptions == []
