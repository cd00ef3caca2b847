"""Finding the runs of a store on the disk: those that the listing lacks, and what changed.

The listing is usually current. It is not if a file of a run was deleted by hand, if somebody
copied runs into the store, if an early version of tracehouse wrote it, or if the listing is lost.
"""

import os
import stat
from collections.abc import Container
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq

from ingest import sql
from ingest.store.directory.derived.tables import columns_of
from ingest.store.directory.files.detection import fault_of, find_fault
from ingest.store.directory.files.listing import ListedRun, Listing
from ingest.store.directory.files.places import (
    PREFIX,
    UNVERSIONED,
    is_name,
    published,
)
from ingest.store.directory.files.revisions import (
    ADOPTED,
    CURRENT,
    NEW,
    place,
    revision_of,
    runs_in,
    unlisted,
)
from ingest.store.faults import BAD_NAME, Fault
from ingest.store.manifest import content_of, files_of
from ingest.store.place import FORBIDDEN
from ingest.units import as_utf8

READ = os.R_OK | os.X_OK
NOT_YET = 0  # a time of change that no directory has, so that a run is read again


def found(store: Path, listing: Listing | None, suspects: Container[str] = ()) -> Listing:
    """Return the listing of the runs on the disk. `listing` is the store's, None if it is lost.

    Runs that have not changed since are as in `listing`. All files of the runs `suspects` are read
    to check them. Raise OSError if the runs cannot be listed.
    """
    known = {run.directory: run for run in listing.runs.values()} if listing else {}
    marks = (CURRENT, ADOPTED) if listing else (CURRENT, ADOPTED, NEW)
    places = [(run.version, run.directory) for run in known.values()]
    for version, revision, mark in unlisted(store, listing):
        if mark in marks:
            places += [(version, directory) for directory in runs_in(store, revision)]
    for each in published(store):
        if not each.target and each.path not in known:
            places.append((each.version, each.path))
    runs: dict[str, ListedRun] = {}
    for version, directory in places:
        run = known.get(directory)
        is_suspect = bool(run and run.run_id in suspects)
        changed_ns = _changed_ns(f"{store}/{directory}")
        is_same = run and run.changed_ns == changed_ns and os.access(f"{store}/{directory}", READ)
        if is_suspect or not is_same:
            run = described(store, directory, version, is_suspect)
        if run and (run.run_id not in runs or _order(run) > _order(runs[run.run_id])):
            runs[run.run_id] = run
    return Listing(dict(sorted(runs.items())))


def superseded(store: Path, listing: Listing) -> list[str]:
    """Return the directories of unlisted revisions that lose against the listed one of their run.

    A later one that is not intact does not lose: somebody may be copying it.
    """
    directories = []
    for version, revision, mark in unlisted(store, listing):
        for directory in runs_in(store, revision) if mark in (CURRENT, ADOPTED) else ():
            run = described(store, directory, version)
            wins = listing.runs.get(run.run_id) if run else None
            if not run or not wins or wins.fault or _order(run) > _order(wins):
                continue
            if not run.fault or revision_of(run) < revision_of(wins):
                directories.append(directory)
    return directories


def _order(run: ListedRun) -> tuple[bool, bool, bool, str]:
    """Return what decides between several directories with a run's files. The last one counts.

    Intact files come before damaged ones, tables of this version before others, and files that
    somebody copied into the store, as from a backup, before its own.
    """
    is_ours = run.version == sql.schema_version()
    return not run.fault, is_ours, run.is_copied_in, revision_of(run)


def described(
    store: Path, directory: str, version: str, is_suspect: bool = False, name: str | None = None
) -> ListedRun | None:
    """Return the listing's entry for the files in `directory`, a path relative to the store.

    Return None if there is no such directory. All files of a run that `is_suspect` are read. `name`
    is the run's name, None to read it.
    """
    path = store / directory
    run_id = path.name.removeprefix(PREFIX)
    try:
        changed_ns = path.stat().st_mtime_ns  # first, because somebody may be copying the run
        names = os.listdir(path)
        content = content_of(path)
    except OSError as error:
        is_gone = isinstance(error, FileNotFoundError | NotADirectoryError)
        if is_gone and not path.is_symlink():
            return None
        fault: Fault | None = fault_of(error)._replace(file="")
        entry = ListedRun(run_id, version, directory, "", (), NOT_YET, name, fault)
    else:
        files = sorted(files_of(path) or names)  # a name may still be missing
        tables = tuple(file.removesuffix(".parquet") for file in files if file.endswith(".parquet"))
        columns = columns_of(store, version) if version == UNVERSIONED else {}
        fault = find_fault(path, version, columns or {}, is_suspect)
        is_growing = fault and fault.is_seen_at_once  # somebody may be copying the run
        entry = ListedRun(
            run_id,
            version,
            directory,
            content,
            tables,
            NOT_YET if is_growing else changed_ns,
            _name(path) if name is None else name,
            fault,
        )
    if is_name(run_id):
        return entry
    readable = "".join(sign for sign in as_utf8(run_id) if sign not in FORBIDDEN)
    return replace(entry, run_id=readable, fault=entry.fault or Fault(BAD_NAME, ""))


def adopted(store: Path, work: Path, listing: Listing) -> Listing:
    """Move the intact runs that were copied in to new revisions. Return the listing then.

    A run that cannot be moved, as another user's or on another disk, stays where it is. `work` is a
    work directory. The caller must hold the store's lock.
    """
    moved = []
    for run in listing.runs.values():
        if run.is_copied_in and (not run.fault or run.fault.code == BAD_NAME):
            with suppress(OSError):
                files = store / run.directory
                directory = place(store, work, run.version, run.run_id, files, ADOPTED)
                if run.fault:
                    moved.append(described(store, directory, run.version) or run)
                else:
                    moved.append(replace(run, directory=directory))
    return listing.with_runs(*moved)


def _changed_ns(directory: str) -> int | None:
    """Return the time of the last change of a directory, or None if it cannot be read."""
    try:
        found = os.stat(directory)
    except OSError:
        return None
    return found.st_mtime_ns if stat.S_ISDIR(found.st_mode) else None


def _name(directory: Path) -> str | None:
    try:
        [name] = pq.ParquetFile(directory / "runs.parquet").read(["name"])["name"].to_pylist()
    except (OSError, ValueError, KeyError):  # pyarrow's errors derive from these
        return None
    return None if name is None else str(name)
