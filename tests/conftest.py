"""Fixtures: the samples, stores, the command line and a browser."""

import json
import math
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from playwright.sync_api import Browser
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

import ingest
from ingest.formats import Source
from tests.builders.events import Event
from tests.helpers.chromium import launched
from tests.helpers.command import Command
from tests.helpers.kept_directories import KeptDirectories
from tests.helpers.recorded import add_recordings, copy_small_runs, push_small_runs
from tests.helpers.reporting import Report, known_seconds
from tests.helpers.samples import Samples
from tests.helpers.stores import emptied, locked

REPOSITORY = Path(__file__).parent.parent
NOT_A_TRACE = "memory_timeline.raw"

BOUNDS = "test_bounds.py"  # the files with tests of limits on time or memory, in any package
CAPTURE = "tests/capture/"
# The files of `DASHBOARD` whose tests share one browser and one server.
DASHBOARD = "tests/dashboard/"
IN_A_BROWSER = (
    "test_all_pages.py",
    "test_harmful_names.py",
    "test_in_a_browser.py",
    "test_other_sites.py",
    "sweeps/test_page.py",
    "trends/test_page.py",
)
# Slow fixtures. They ingest large samples, or start a browser, Streamlit or torch.
SLOW = {"sampled", "chromium", "app", "capture_extra", "run_python"}


class OneProcessAFile(LoadFileScheduling):
    """Runs the tests of a file in one process, because they share fixtures.

    The tests of a folder of `CAPTURE` share one process, because they share recordings and
    processes that have imported torch. The tests of all files `BOUNDS` share one process, because
    in parallel they would slow each other down. The tests of the files `IN_A_BROWSER` share one
    process, because they share a browser and a server.

    What took longest in the last whole run comes first, after what was not in it. So the processes
    end at about the same time.
    """

    def __init__(self, config: pytest.Config, log: Any) -> None:
        super().__init__(config, log)
        self._seconds: Counter[str] = Counter()
        for file, seconds in known_seconds(config).items():
            self._seconds[self._split_scope(file)] += seconds

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        if file.startswith(CAPTURE):
            return file.rpartition("/")[0]
        if file.startswith(DASHBOARD) and file.endswith(IN_A_BROWSER):
            return DASHBOARD
        return BOUNDS if file.endswith(BOUNDS) else file

    def _assign_work_unit(self, node: WorkerController) -> None:
        longest = max(self.workqueue, key=lambda scope: self._seconds.get(scope, math.inf))
        self.workqueue.move_to_end(longest, last=False)
        super()._assign_work_unit(node)


def pytest_configure(config: pytest.Config) -> None:
    """Add the report that a run prints last."""
    config.pluginmanager.register(Report(), "report")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> OneProcessAFile:
    """Return the scheduler of pytest-xdist."""
    return OneProcessAFile(config, log)


def pytest_itemcollected(item: pytest.Function) -> None:
    """Mark slow tests, which `make check` omits."""
    if item.path.name == BOUNDS or not SLOW.isdisjoint(item.fixturenames):
        item.add_marker(pytest.mark.slow)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run slow tests first. `OneProcessAFile` says what comes first if more is known."""
    items.sort(key=lambda item: "slow" not in item.keywords)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory that all processes of this session share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def samples() -> Path:
    """The directory of real profiler output. Tests that need it are skipped if it is absent."""
    directory = Path(os.environ.get("TRACE_SAMPLES") or REPOSITORY.parent / "shared" / "samples")
    if not directory.is_dir():
        pytest.skip(f"no sample traces: TRACE_SAMPLES or {directory}")
    return directory


@pytest.fixture(scope="session")
def truth(samples: Path) -> dict[str, Any]:
    """Numbers of the sample traces, computed without this program."""
    return dict(json.loads((samples / "expected" / "truth.json").read_text()))


@pytest.fixture(scope="session")
def sampled(samples: Path, shared: Path, pytestconfig: pytest.Config) -> Samples:
    """The samples as stores of runs."""
    cache = pytestconfig.cache  # None with `-p no:cacheprovider`
    kept = cache.mkdir("samples") if cache else shared / "kept_samples"
    return Samples(samples, shared, KeptDirectories(kept))


@pytest.fixture(scope="session")
def sample_store(sampled: Samples) -> Path:
    """A store with each trace of `samples/traces` as a run of the same name."""
    return sampled.store(*(run for run in sampled.names("traces") if run != NOT_A_TRACE))


@pytest.fixture(scope="session")
def recorded_store(shared: Path) -> Path:
    """A store of runs that need no samples. Tests share it and must not change it."""
    path, done = shared / "recorded", shared / "recorded.done"
    with locked(shared / "recorded.lock"):
        if not done.exists():
            add_recordings(ingest.Store(path), shared / "recorded_files")
            done.touch()
    return path


@pytest.fixture(scope="session")
def small(shared: Path, recorded_store: Path) -> ingest.Store:
    """A store of five small runs. Tests share it and must not change it."""
    path, done = shared / "small", shared / "small.done"
    with locked(shared / "small.lock"):
        if not done.exists():
            copy_small_runs(recorded_store, path, shared)
            done.touch()
    return ingest.Store(path)


@pytest.fixture(scope="session")
def small_lake(shared: Path, small: ingest.Store) -> Path:
    """The directory of a lake with a batch for each of three of these runs. Tests copy it."""
    path, done = shared / "small_lake", shared / "small_lake.done"
    with locked(shared / "small_lake.lock"):
        if not done.exists():
            push_small_runs(small, f"file://{path}")
            done.touch()
    return path


@pytest.fixture
def own_lake(tmp_path: Path, small_lake: Path) -> str:
    """The URL of a copy of that lake, for exclusive use by the test."""
    shutil.copytree(small_lake, tmp_path / "lake")
    return f"file://{tmp_path}/lake"


@pytest.fixture
def store_of_samples(sample_store: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to the store of the samples."""
    with ingest.connect(sample_store) as connection:
        yield connection


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory) -> ingest.Store:
    """A store without runs, for exclusive use by the test."""
    return emptied(tmp_path_factory.getbasetemp() / "store")


class Traces:
    """Small traces that a test builds and adds to a store, one run each."""

    def __init__(self, directory: Path, store: ingest.Store) -> None:
        self.directory = directory
        self.store = store

    def write(self, events: list[Event] | str, name: str = "trace", **metadata: object) -> Path:
        """Write a file with these events and `metadata`, or with this text. Return its path."""
        path = self.directory / f"{name}.json"
        text = (
            events if isinstance(events, str) else json.dumps({**metadata, "traceEvents": events})
        )
        path.write_text(text, encoding="utf-8")
        return path

    def add(
        self, events: list[Event] | str, name: str = "trace", **metadata: object
    ) -> duckdb.DuckDBPyConnection:
        """Add the events as a run. Return a connection to the store."""
        self.store.add(self.write(events, name, **metadata))
        return ingest.connect(self.store.path)


@pytest.fixture
def traces(tmp_path: Path, store: ingest.Store) -> Traces:
    """A helper that builds small traces and adds them to a store."""
    return Traces(tmp_path, store)


@pytest.fixture(scope="module")
def shared_traces(tmp_path_factory: pytest.TempPathFactory) -> Traces:
    """The same helper with a store that the tests of a file share: they add all runs only once."""
    directory = tmp_path_factory.mktemp("shared")
    return Traces(directory, ingest.Store(directory / "store"))


class Ranks:
    """Files that a test adds as the ranks of one run, which is faster than a run for each."""

    def __init__(self, directory: Path, store: ingest.Store) -> None:
        self.directory = directory
        self.store = store

    def add(self, *contents: Any) -> list[Source]:
        """Add a run with a file of each content: text, bytes, or JSON. Return the files by rank."""
        run = self.directory / f"run{len(self.store.run_ids())}"
        run.mkdir()
        for rank, content in enumerate(contents):
            text = content if isinstance(content, str | bytes) else json.dumps(content)
            file = run / f"t_rank{rank}.json"
            file.write_bytes(text.encode() if isinstance(text, str) else text)
        sources = sorted(self.store.add(run).sources, key=lambda source: source.rank or 0)
        assert [source.rank for source in sources] == list(range(len(contents)))
        return sources

    def rows(self, query: str) -> list[list[tuple[Any, ...]]]:
        """Return the rows of each rank. The first column of the query is the rank."""
        found: dict[int, list[tuple[Any, ...]]] = {}
        with ingest.connect(self.store.path) as connection:
            for rank, *row in connection.sql(query).fetchall():
                found.setdefault(rank, []).append(tuple(row))
        return [found.get(rank, []) for rank in range(max(found) + 1)]


@pytest.fixture
def ranks(tmp_path: Path, store: ingest.Store) -> Ranks:
    """A helper that adds files as the ranks of one run."""
    return Ranks(tmp_path, store)


@pytest.fixture
def default_store(store: ingest.Store) -> Path:
    """The default store of `command`."""
    return store.path


@pytest.fixture
def command(
    default_store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """A function that runs `ingest …` on a store."""
    return Command(default_store, monkeypatch, capsys)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A browser that all tests of a process share."""
    with launched() as browser:
        yield browser
