"""The paths of a store's files.

    <store>/listing.json                                                  the runs
    <store>/revisions/<version>/<revision>/run_id=<id>/<table>.parquet    the files of a run
    <store>/revisions/<version>/<revision>/current                        or another mark
    <store>/runs/<version>/run_id=<id>                                    a link to the run's files
    <store>/runs/<version>/run_id=~empty/<table>.parquet                  tables without rows
    <store>/index-<digest>.parquet                                        derived: the index
    <store>/catalog.duckdb, schema                                        derived: the views
    <store>/.lock, .work-*, .readers                                      locks

A revision never changes. A run that is edited or rebuilt gets a new one (revisions.py). The links
are for other programs, which find the runs of a version with the pattern
`runs/<version>/run_id=*`. Early versions of tracehouse, and people who copy a run into a store, put
its files in place of the link.

`run_id=~empty` has a file without rows for each table. The files define the columns, and DuckDB
needs them if no run has rows of a table. The name sorts last because DuckDB estimates a table's
size from its first file.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ingest import sql
from ingest.store.place import FORBIDDEN
from ingest.units import as_utf8

RUNS = "runs"
REVISIONS = "revisions"
PREFIX = "run_id="
EMPTY = f"{PREFIX}~empty"
UNVERSIONED = ""  # the version of runs directly in `runs`, from before there were versions
UNVERSIONED_NAME = "unversioned"  # of the directory of their revisions


def version_directory(store: Path, version: str) -> Path:
    """Return the directory of a version's links and empty tables."""
    return store / RUNS / version if version else store / RUNS


def empty_directory(store: Path, version: str | None = None) -> Path:
    """Return the directory of the tables without rows of a version, None for this one."""
    return version_directory(store, sql.schema_version() if version is None else version) / EMPTY


def link_path(version: str, run_id: str) -> str:
    """Return the path of the link to a run's files, relative to the store."""
    return f"{RUNS}/{version}/{PREFIX}{run_id}" if version else f"{RUNS}/{PREFIX}{run_id}"


def revisions_directory(store: Path, version: str) -> Path:
    """Return the directory of the revisions of a version."""
    return store / REVISIONS / (version or UNVERSIONED_NAME)


def versions(store: Path) -> list[str]:
    """Return the versions that have a directory in `runs`. Raise OSError if it cannot be read."""
    with os.scandir(store / RUNS) as entries:
        names = [entry.name for entry in entries if entry.is_dir()]
    return sorted({UNVERSIONED if name.startswith(PREFIX) else name for name in names})


class Published(NamedTuple):
    """A run in `runs`. `path` is relative to the store.

    `target` is what its link contains if it is a link of the store, and None if somebody copied in
    the run's files.
    """

    version: str
    path: str
    target: str | None


def published(store: Path) -> Iterator[Published]:
    """Yield the runs in `runs`. Raise OSError if it cannot be read."""
    for version in versions(store):
        directory = f"{RUNS}/{version}" if version else RUNS
        beginning = target_of(version, f"{REVISIONS}/")
        for name in readable_names_in(f"{store}/{directory}"):
            if name.startswith(PREFIX) and name != EMPTY:
                link = f"{store}/{directory}/{name}"
                target = link_target(link)
                is_ours = target is not None and (
                    target.startswith(beginning) or _is_in_revisions(store, link)
                )
                yield Published(version, f"{directory}/{name}", target if is_ours else None)


def _is_in_revisions(store: Path, link: str) -> bool:
    """Return whether a link leads to a revision, as an absolute one that a backup tool wrote."""
    revisions = os.path.realpath(store / REVISIONS)
    return os.path.realpath(link).startswith(f"{revisions}{os.sep}")


def target_of(version: str, directory: str) -> str:
    """Return what a link of a version contains to lead to a directory, relative to the store."""
    return f"../../{directory}" if version else f"../{directory}"


def link_target(path: Path | str) -> str | None:
    """Return the path in a symbolic link, or None if `path` is no link."""
    try:
        return os.readlink(path)
    except OSError:
        return None


def names_in(directory: Path | str) -> list[str]:
    """Return the sorted names in a directory. It may be gone."""
    try:
        return sorted(os.listdir(directory))
    except (FileNotFoundError, NotADirectoryError):
        return []


def readable_names_in(directory: Path | str) -> list[str]:
    """Return the sorted names in a directory, or none if this user may not read it."""
    try:
        return names_in(directory)
    except PermissionError:
        return []


def is_name(name: str) -> bool:
    """Return whether DuckDB reads a file name as it is written."""
    return as_utf8(name) == name and not any(sign in name for sign in FORBIDDEN)
