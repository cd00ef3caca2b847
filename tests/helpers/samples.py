"""The sample profiles as runs. The first process that needs a run ingests it for the session."""

import hashlib
import os
import shutil
from functools import cache, cached_property
from pathlib import Path

import duckdb

import ingest
from ingest import sql
from ingest.sql.versions import PACKAGES
from ingest.store.directory.derived.index import INDEX, VERSION, index_version
from tests.helpers.kept_directories import KeptDirectories
from tests.helpers.stores import locked

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
    """The files in `directory`, and stores of their runs.

    A run is ingested once in a session, and its directory is in `kept` for the next session. The
    stores of tests have links to the session's own copy.
    """

    def __init__(self, directory: Path, shared: Path, kept: KeptDirectories) -> None:
        self.directory = directory
        self._kept = kept
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
        if not done.exists():
            ingested = self._ingested(runs)  # before the lock, so that processes share the work
            with locked(self._shared / f"{digest}.lock"):
                if not done.exists():
                    _link(ingest.Store(path), ingested)
                    done.touch()
        return path

    def add(self, store: ingest.Store, *runs: str) -> list[str]:
        """Link these runs into a store. Return their ids."""
        return _link(store, self._ingested(runs))

    def _ingested(self, runs: tuple[str, ...]) -> list[Path]:
        """Return a directory for each run. Runs that another process is ingesting come last."""
        found: dict[str, Path] = {}
        for wait in (False, True):
            for run in runs:
                if run not in found:
                    with locked(self._shared / f"{run}.lock", wait) as is_ours:
                        if is_ours:
                            found[run] = self._directory_of(run)
        return [found[run] for run in runs]

    def _directory_of(self, run: str) -> Path:
        """Return a directory with the run's directory, and its row of the index."""
        path = self._shared / f"run-{run}"
        if not path.exists():
            options = ingest.AddOptions(name=run if run in FILES else None)
            files = self.files(run)
            digest = _digest(files, options)
            if not self._kept.copy(run, digest, path):
                self._add(path, files, options)
                self._kept.keep(run, digest, path)
        return path

    def _add(self, path: Path, files: list[Path], options: ingest.AddOptions) -> None:
        source = files[0]
        if len(files) > 1:
            source = self._shared / "input" / path.name
            source.mkdir(parents=True, exist_ok=True)
            for file in files:
                shutil.copy(file, source)
        run = self._own.run_path(self._own.add(source, options).run_id)
        written = path.with_name(f"{path.name}.written")
        (written / sql.schema_version()).mkdir(parents=True)
        shutil.copy(self._own.path / INDEX, written)  # it has no other run: they have moved
        run.rename(written / sql.schema_version() / run.name)
        self._own.refresh()
        written.rename(path)

    @cached_property
    def _own(self) -> ingest.Store:
        """A store of this process."""
        return ingest.Store(self._shared / f"process-{os.getpid()}")


@cache
def _code() -> str:
    """Return a digest of the versions and the files that decide what a run contains.

    Views do not, unless the store or its index keeps their rows.
    """
    kept = [duckdb.__version__, sql.index_version(), *sql.definitions_of_run()]
    digest = hashlib.sha256("\n".join(kept).encode())
    package = Path(ingest.__file__).parent
    for folder in ("", *PACKAGES, "store", "sql"):
        for file in sorted((package / folder).glob("**/*" if folder else "*")):
            if file.suffix in (".py", ".sql", ".json") and file.parent.name != "views":
                digest.update(file.read_bytes())
    return digest.hexdigest()


def _digest(files: list[Path], options: ingest.AddOptions) -> str:
    """Return a digest of what decides what a run contains."""
    contents = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
    return sql.digest([_code(), repr(options), *map(str, files), *contents])


def _link(store: ingest.Store, directories: list[Path]) -> list[str]:
    """Link the runs of these directories into a store. Return their ids."""
    runs = [run for directory in directories for run in directory.glob("*/run_id=*")]
    for run in runs:
        target = store.path / "runs" / run.parent.name / run.name
        shutil.copytree(run, target, copy_function=os.link)
    indexes = [str(each / INDEX) for each in (store.path, *directories)]
    merged = store.path.with_name(f"{store.path.name}.{INDEX}")
    duckdb.execute(
        f"COPY (FROM read_parquet($1) ORDER BY run_id) TO '{merged}' "
        f"(COMPRESSION zstd, KV_METADATA {{{VERSION}: '{index_version()}'}})",
        [indexes],
    )
    merged.replace(store.path / INDEX)  # so that the store need not read the runs
    store.refresh()
    return [run.name.removeprefix("run_id=") for run in runs]


def run_name(file: Path) -> str:
    """Return the name of the run of a file."""
    name = file.name.removesuffix(".gz").removesuffix(".json").removesuffix(".pickle")
    return name.removesuffix(".trace").removesuffix(".pt")
