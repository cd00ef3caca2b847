"""The sample profiles as runs. The first process that needs a run ingests it for the session."""

import hashlib
import shutil
from pathlib import Path

import ingest
from tests.stores import locked

FOLDERS = ("traces", "traces/cpu", "compile", "snapshots", "megengine")
EAGER, COMPILED, TWO_RANKS = "flux_eager_b2", "flux_compiled_b2", "two_ranks"
SNAPSHOTS = (
    "cpp_pickler_protocol2",
    "fragmented_no_history",
    "full_history_annotations",
    "inconsistent_synthetic",
    "private_pools_no_history",
    "state_only",
    "torch20_block_history",
    "train_ctx128",
    "train_ctx512",
    "trimmed",
)
MEGENGINE = ("prof_async", "prof_embed", "prof_fast", "prof_iter3", "prof_net3", "prof_onlywait")
FILES = {  # runs with several files, or with another name than their file
    EAGER: [f"compile/{EAGER}-rank0.trace.json.gz"],
    COMPILED: [f"compile/{COMPILED}-rank0.{kind}.gz" for kind in ("trace.json", "compile.log")],
    f"{COMPILED}-rank0": [f"compile/{COMPILED}-rank0.trace.json.gz"],
    TWO_RANKS: [f"traces/two_rank_rank{rank}.json.gz" for rank in (0, 1)],
}


class Samples:
    """The files in `directory`, and stores of their runs."""

    def __init__(self, directory: Path, shared: Path) -> None:
        self.directory = directory
        self._shared = shared / "samples"
        self._shared.mkdir(exist_ok=True)

    def names(self, folder: str) -> list[str]:
        """Return the names of the runs of a folder, one per file."""
        paths = (self.directory / folder).rglob("*.*")
        return sorted({run_name(path) for path in paths})

    def files(self, run: str) -> list[Path]:
        """Return the files of a run."""
        if run in FILES:
            return [self.directory / name for name in FILES[run]]
        everything = (path for name in FOLDERS for path in (self.directory / name).iterdir())
        return [path for path in everything if run_name(path) == run]

    def store(self, *runs: str) -> Path:
        """Return a store with these runs. Tests share it and must not change it."""
        digest = hashlib.sha256("\n".join(sorted(runs)).encode()).hexdigest()[:12]
        path, done = self._shared / f"store-{digest}", self._shared / f"{digest}.done"
        with locked(self._shared / f"{digest}.lock"):
            if not done.exists():
                self.add(ingest.Store(path), *runs)
                done.touch()
        return path

    def add(self, store: ingest.Store, *runs: str) -> list[str]:
        """Link these runs into a store. Return their ids."""
        directories = self._directories(runs)
        for run in directories:
            version = run.parent.name
            shutil.copytree(run, store.path / "runs" / version / run.name, copy_function=_link)
        store.refresh()
        return [run.name.removeprefix("run_id=") for run in directories]

    def _directories(self, runs: tuple[str, ...]) -> list[Path]:
        """Return the directories of the runs. Runs that another process is ingesting come last."""
        found: dict[str, Path] = {}
        for wait in (False, True):
            for run in runs:
                if run not in found:
                    with locked(self._shared / f"{run}.lock", wait) as is_ours:
                        if is_ours:
                            found[run] = self._ingested(run)
        return [found[run] for run in runs]

    def _ingested(self, run: str) -> Path:
        """Return the directory of a run in the store of all requested runs. Ingest it if needed."""
        link = self._shared / f"{run}.run"
        if not link.exists():
            source, *more = self.files(run)
            if more:
                source = self._shared / "input" / run
                source.mkdir(parents=True, exist_ok=True)
                for file in self.files(run):
                    shutil.copy(file, source)
            labels = ingest.AddOptions(name=run) if run in FILES else None
            store = self._all()
            link.symlink_to(store.run_path(store.add(source, labels).run_id))
        return link.resolve()

    def _all(self) -> ingest.Store:
        path = self._shared / "all"
        with locked(self._shared / "all.lock"):
            return ingest.Store(path)


def run_name(file: Path) -> str:
    """Return the name of the run of a file."""
    name = file.name.removesuffix(".gz").removesuffix(".json").removesuffix(".pickle")
    return name.removesuffix(".trace").removesuffix(".pt")


def _link(source: str, target: str) -> None:
    Path(target).hardlink_to(source)
