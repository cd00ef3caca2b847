"""Where the runs of a store lie: a directory for each, in that of its schema's version.

    <store>/runs/<version>/run_id=<id>/<table>.parquet
    <store>/runs/run_id=<id>/<table>.parquet            by tracehouse before it had versions

`run_id=~empty` of a version has a file for each table, without rows. It tells the columns, and
DuckDB needs it where no run has rows of a table. The name sorts last: DuckDB guesses a table's size
from its first file.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from ingest import sql

RUNS = "runs"
PREFIX = "run_id="
EMPTY = f"{PREFIX}~empty"
REPLACED = "replaced"  # in a workplace
UNVERSIONED = ""  # the version of the runs that lie in `runs` itself


@dataclass(frozen=True)
class Place:
    """The directory of a run, and when it was changed, in ns: a file in it came or went."""

    run_id: str
    version: str
    directory: Path
    changed_ns: int


def version_directory(store: Path, version: str) -> Path:
    """The directory of the runs of a version."""
    return store / RUNS / version if version else store / RUNS


def run_directory(store: Path, run_id: str) -> Path:
    """Where a new run goes."""
    return version_directory(store, sql.schema_version()) / f"{PREFIX}{run_id}"


def versions(store: Path) -> list[str]:
    """The versions that the store has directories of. Raises OSError where it cannot be read."""
    with os.scandir(store / RUNS) as entries:
        names = [entry.name for entry in entries if entry.is_dir()]
    found = {UNVERSIONED if name.startswith(PREFIX) else name for name in names}
    return sorted(found)


def places(store: Path) -> dict[str, Place]:
    """All runs by id. Raises OSError where they cannot be listed.

    A run that is there in two versions, as a copied store may have it, is taken from this one's.
    """
    found: dict[str, Place] = {}
    for version in sorted(versions(store), key=lambda name: name == sql.schema_version()):
        directory = version_directory(store, version)
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.name.startswith(PREFIX) and entry.name != EMPTY:
                    run_id = entry.name.removeprefix(PREFIX)
                    try:
                        changed = entry.stat().st_mtime_ns
                    except FileNotFoundError:  # removed by now, or a link to nowhere
                        continue
                    found[run_id] = Place(run_id, version, directory / entry.name, changed)
    return dict(sorted(found.items()))


def set_aside(store: Path, place: Path, workplace: Path) -> None:
    """Moves a run that is to be replaced into a workplace."""
    aside = workplace / REPLACED / (place.parent.relative_to(store / RUNS))
    aside.mkdir(parents=True)
    place.rename(aside / place.name)


def put_back(store: Path, workplace: Path) -> None:
    """Moves a run back that a process set aside, if it was killed before it had replaced it."""
    for directory in (workplace / REPLACED).rglob(f"{PREFIX}*"):
        if directory.name.removeprefix(PREFIX) not in places(store):
            directory.rename(store / RUNS / directory.relative_to(workplace / REPLACED))
