"""Finding the runs of a store on the disk: those that the listing lacks, and what changed.

The listing is usually current. It is not if a file of a run was deleted by hand, if somebody
copied a run into `runs/`, if an early version of tracehouse wrote the store, or if the listing is
lost.
"""

import os
import stat
from collections.abc import Container, Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq

from ingest import sql
from ingest.store.faults import Fault, find_fault
from ingest.store.listing import ListedRun, Listing
from ingest.store.manifest import content_of
from ingest.store.places import (
    CURRENT,
    EMPTY,
    PREFIX,
    REVISIONS,
    RUNS,
    UNVERSIONED,
    UNVERSIONED_NAME,
    new_revision,
    version_directory,
)
from ingest.store.tables import columns_of
from ingest.units import as_utf8

REVISIONS_PART = f"{REVISIONS}{os.sep}"


def found(store: Path, listing: Listing | None, suspects: Container[str] = ()) -> Listing:
    """Return the listing of the runs on the disk. `listing` is the store's.

    Runs that have not changed since are as in `listing`. All files of the runs `suspects` are read
    to check them. Raise OSError if the runs cannot be listed.
    """
    if listing is None:
        runs = {run.run_id: run for run in _revisions(store)}
    else:
        runs = {}
        for run in listing.runs.values():
            changed_ns = _changed_ns(f"{store}/{run.directory}")
            if run.run_id in suspects or run.changed_ns != changed_ns:
                if changed_ns is not None:
                    is_suspect = run.run_id in suspects
                    runs[run.run_id] = described(store, run.directory, run.version, is_suspect)
            else:
                runs[run.run_id] = run
    for version, directory in copied_in(store):
        path = str(directory.relative_to(store))
        run = described(store, path, version)
        runs[run.run_id] = run
    return Listing(dict(sorted(runs.items())))


def described(
    store: Path, directory: str, version: str, is_suspect: bool = False, name: str | None = None
) -> ListedRun:
    """Return the listing's entry for the files in `directory`, a path relative to the store.

    All files of a run that `is_suspect` are read. `name` is the run's name, None to read it.
    """
    path = store / directory
    files = sorted(entry.name for entry in os.scandir(path))
    tables = tuple(file.removesuffix(".parquet") for file in files if file.endswith(".parquet"))
    columns = columns_of(store, version) if version == UNVERSIONED else {}
    fault = find_fault(path, version, columns or {}, is_suspect)
    run_id = path.name.removeprefix(PREFIX)
    if as_utf8(directory) != directory:
        run_id, fault = as_utf8(run_id).replace("\\", ""), Fault("name", "")
    return ListedRun(
        run_id,
        version,
        directory,
        content_of(path),
        tables,
        path.stat().st_mtime_ns,
        name if name is not None else _name(path),
        fault,
    )


def copied_in(store: Path) -> Iterator[tuple[str, Path]]:
    """Yield the version and path of each run whose files are in place of its link.

    A copied store may have a run in two versions. The run of this version comes last.
    """
    for version, entry, is_ours in sorted(
        published(store), key=lambda found: found[0] == sql.schema_version()
    ):
        if not is_ours and entry.is_dir():
            yield version, Path(entry.path)


def published(store: Path) -> Iterator[tuple[str, os.DirEntry[str], bool]]:
    """Yield the version and entry of each run in `runs/`, and whether it is a link of the store."""
    for version in versions(store):
        with os.scandir(version_directory(store, version)) as entries:
            for entry in entries:
                if entry.name.startswith(PREFIX) and entry.name != EMPTY:
                    is_link = entry.is_symlink()
                    yield version, entry, is_link and REVISIONS_PART in os.readlink(entry.path)


def adopted(store: Path, listing: Listing, work: Path) -> Listing:
    """Move the files of runs that were copied in to new revisions. Return the listing then.

    `work` is a work directory. The caller must hold the store's lock.
    """
    moved = []
    for run in listing.runs.values():
        if run.directory.startswith(f"{RUNS}{os.sep}"):
            source = store / run.directory
            files = source.resolve() if source.is_symlink() else source
            directory = new_revision_of(store, run.version, run.run_id, files, work)
            if source.is_symlink():
                source.unlink()
            if run.fault and run.fault.code == "name":
                moved.append(described(store, directory, run.version))
            else:
                moved.append(replace(run, directory=directory))
    return listing.with_runs(*moved)


def new_revision_of(store: Path, version: str, run_id: str, files: Path, work: Path) -> str:
    """Move the directory `files` to a new revision of a run. Return its path in the store.

    Files outside the store stay where they are, behind a link.
    """
    revision = new_revision(store, version)
    revision.parent.mkdir(parents=True, exist_ok=True)
    staged = work / revision.name
    staged.mkdir()
    (staged / CURRENT).touch()
    if files.is_relative_to(store):
        files.rename(staged / f"{PREFIX}{run_id}")
    else:
        (staged / f"{PREFIX}{run_id}").symlink_to(files)
    staged.rename(revision)
    return str((revision / f"{PREFIX}{run_id}").relative_to(store))


def versions(store: Path) -> list[str]:
    """Return the versions that have links in `runs/`. Raise OSError if it cannot be read."""
    with os.scandir(store / RUNS) as entries:
        names = [entry.name for entry in entries if entry.is_dir()]
    return sorted({UNVERSIONED if name.startswith(PREFIX) else name for name in names})


def revisions(store: Path) -> Iterator[tuple[str, str]]:
    """Yield the version of each revision and its path in the store, sorted.

    Revisions that are replaced are among them.
    """
    for name in _sorted(f"{store}/{REVISIONS}"):
        version = UNVERSIONED if name == UNVERSIONED_NAME else name
        for revision in _sorted(f"{store}/{REVISIONS}/{name}"):
            yield version, f"{REVISIONS}/{name}/{revision}"


def _sorted(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _revisions(store: Path) -> Iterator[ListedRun]:
    for version, revision in revisions(store):
        if (store / revision / CURRENT).exists():
            for run in (store / revision).glob(f"{PREFIX}*"):
                yield described(store, str(run.relative_to(store)), version)


def _changed_ns(directory: str) -> int | None:
    try:
        found = os.stat(directory)
    except OSError:  # removed, or a dangling link
        return None
    return found.st_mtime_ns if stat.S_ISDIR(found.st_mode) else None


def _name(directory: Path) -> str | None:
    try:
        [name] = pq.ParquetFile(directory / "runs.parquet").read(["name"])["name"].to_pylist()
    except (OSError, ValueError, KeyError):  # pyarrow's errors derive from these
        return None
    return None if name is None else str(name)
