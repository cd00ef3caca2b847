"""The paths of a store's files.

    <store>/revisions/<version>/<revision>/run_id=<id>/<table>.parquet   the files of a run
    <store>/revisions/<version>/<revision>/current                       absent once it is replaced
    <store>/runs/<version>/run_id=<id>                                   a link to the run's files
    <store>/runs/<version>/run_id=~empty/<table>.parquet                 tables without rows

A revision never changes. A run that is edited or rebuilt gets a new one. The links are for other
programs, which find the runs of a version with the pattern `runs/<version>/run_id=*`. Early
versions of tracehouse, and people who copy a run into a store, put its files in place of the link.

`run_id=~empty` has a file without rows for each table. The files define the columns, and DuckDB
needs them if no run has rows of a table. The name sorts last because DuckDB estimates a table's
size from its first file.
"""

import time
import uuid
from pathlib import Path

from ingest import sql

RUNS = "runs"
REVISIONS = "revisions"
PREFIX = "run_id="
EMPTY = f"{PREFIX}~empty"
CURRENT = "current"
UNVERSIONED = ""  # the version of runs directly in `runs`, from before there were versions
UNVERSIONED_NAME = "unversioned"  # of the directory of their revisions


def version_directory(store: Path, version: str) -> Path:
    """Return the directory of a version's links and empty tables."""
    return store / RUNS / version if version else store / RUNS


def empty_directory(store: Path, version: str | None = None) -> Path:
    """Return the directory of the tables without rows of a version, None for this one."""
    return version_directory(store, sql.schema_version() if version is None else version) / EMPTY


def link_path(store: Path, version: str, run_id: str) -> Path:
    """Return the path of the link to a run's files."""
    return version_directory(store, version) / f"{PREFIX}{run_id}"


def revisions_directory(store: Path, version: str) -> Path:
    """Return the directory of the revisions of a version."""
    return store / REVISIONS / (version or UNVERSIONED_NAME)


def new_revision(store: Path, version: str) -> Path:
    """Return the path of a new revision. The names of later revisions sort last."""
    return revisions_directory(store, version) / f"{time.time_ns():019}-{uuid.uuid4().hex[:8]}"
