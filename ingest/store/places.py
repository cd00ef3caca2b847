"""The directories of a store's runs. Runs are grouped by the version of their schema.

    <store>/runs/<version>/run_id=<id>/<table>.parquet
    <store>/runs/run_id=<id>/<table>.parquet            from before there were versions

A version's directory `run_id=~empty` has a file without rows for each table. The files define the
columns, and DuckDB needs them if no run has rows of a table. The name sorts last because DuckDB
estimates a table's size from its first file.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from ingest import sql

RUNS = "runs"
PREFIX = "run_id="
EMPTY = f"{PREFIX}~empty"
REPLACED = "replaced"  # directory in a work directory
UNVERSIONED = ""  # the version of runs directly in `runs`


@dataclass(frozen=True)
class StoredRun:
    """The directory of a run. `changed_ns` is the time when a file was last added or removed."""

    run_id: str
    version: str
    directory: Path
    changed_ns: int


def version_directory(store: Path, version: str) -> Path:
    """Return the directory of the runs of a version."""
    return store / RUNS / version if version else store / RUNS


def run_directory(store: Path, run_id: str) -> Path:
    """Return the directory for a new run."""
    return version_directory(store, sql.schema_version()) / f"{PREFIX}{run_id}"


def versions(store: Path) -> list[str]:
    """Return the versions of the store's directories. Raise OSError if it cannot be read."""
    with os.scandir(store / RUNS) as entries:
        names = [entry.name for entry in entries if entry.is_dir()]
    found = {UNVERSIONED if name.startswith(PREFIX) else name for name in names}
    return sorted(found)


def stored_runs(store: Path) -> dict[str, StoredRun]:
    """Return all runs by id. Raise OSError if they cannot be listed.

    A copied store may have a run in two versions. The run of the current version is returned.
    """
    found: dict[str, StoredRun] = {}
    for version in sorted(versions(store), key=lambda name: name == sql.schema_version()):
        directory = version_directory(store, version)
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.name.startswith(PREFIX) and entry.name != EMPTY:
                    run_id = entry.name.removeprefix(PREFIX)
                    try:
                        changed = entry.stat().st_mtime_ns
                    except FileNotFoundError:  # removed meanwhile, or a dangling link
                        continue
                    found[run_id] = StoredRun(run_id, version, directory / entry.name, changed)
    return dict(sorted(found.items()))


def set_aside(store: Path, run: Path, work_directory: Path) -> None:
    """Move a run that will be replaced into a work directory."""
    aside = work_directory / REPLACED / (run.parent.relative_to(store / RUNS))
    aside.mkdir(parents=True)
    run.rename(aside / run.name)


def put_back(store: Path, work_directory: Path) -> None:
    """Move runs back that a process set aside, if it was killed before it replaced them."""
    for directory in (work_directory / REPLACED).rglob(f"{PREFIX}*"):
        if directory.name.removeprefix(PREFIX) not in stored_runs(store):
            directory.rename(store / RUNS / directory.relative_to(work_directory / REPLACED))
