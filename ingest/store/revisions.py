"""Revisions: directories with the files of a run, which never change.

    <store>/revisions/<version>/<revision>/run_id=<id>/    the files
    <store>/revisions/<version>/<revision>/new             until the listing names the revision
    <store>/revisions/<version>/<revision>/adopted         likewise, if somebody copied in its run
    <store>/revisions/<version>/<revision>/current         from then on
    <store>/revisions/<version>/<revision>/replaced        once its run has been replaced or removed

The mark is an empty file. Renaming it needs no space on the disk. After stores were merged there
can be two; the first of `current`, `adopted`, `replaced` and `new` counts. Only revisions that are
`new` without a writer, or `replaced`, are ever deleted. A revision that is `current` or `adopted`
is a run even if the listing lacks it: somebody merged two stores or restored an older listing, or
two processes wrote at once on a file system without locks.
"""

import os
import shutil
import time
import uuid
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from ingest import sql
from ingest.store.index import index_path, indexes
from ingest.store.leases import DELAY_SECONDS, horizon_ns
from ingest.store.listing import ListedRun, Listing
from ingest.store.locking import PREFIX as WORK
from ingest.store.locking import sync_names
from ingest.store.modes import make_directories, share
from ingest.store.places import (
    EMPTY,
    PREFIX,
    REVISIONS,
    UNVERSIONED,
    UNVERSIONED_NAME,
    names_in,
    published,
    readable_names_in,
    revisions_directory,
    version_directory,
)

NEW = "new"
ADOPTED = "adopted"
CURRENT = "current"
REPLACED = "replaced"


def place(store: Path, work: Path, version: str, run_id: str, files: Path, mark: str = NEW) -> str:
    """Move the directory `files` to a new revision of a run. Return its path in the store.

    Names of later revisions sort last. If `files` is a link, its target stays where it is. `work`
    is a work directory. The caller must hold the store's lock. Raise OSError if the files cannot be
    moved.
    """
    revision = revisions_directory(store, version) / f"{time.time_ns():019}-{uuid.uuid4().hex[:8]}"
    make_directories(store, revision.parent.parent, revision.parent)
    (work / revision.name).mkdir()
    (work / revision.name / mark).touch()
    (work / revision.name).rename(revision)  # a revision always has a mark
    placed = revision / f"{PREFIX}{run_id}"
    try:
        if files.is_symlink():
            placed.symlink_to(os.path.realpath(files))
            files.unlink()
        else:
            files.rename(placed)
            share(store, placed, *placed.iterdir())
    except BaseException:
        if os.path.lexists(files):  # it could not be moved
            revision.rename(work / revision.name)
        raise
    share(store, revision, revision / mark)
    for directory in (revision, revision.parent, revision.parent.parent):
        sync_names(directory)
    return str(placed.relative_to(store))


def withdraw(store: Path, directory: str, target: Path) -> None:
    """Move the files of a revision that could not be committed to `target`, and delete it."""
    with suppress(OSError):  # the next process that commits deletes it
        (store / directory).rename(target)
        _delete(store, (store / directory).parent)


def mark_current(store: Path, listing: Listing) -> None:
    """Note that the listing names its revisions, as far as that is possible."""
    for revision in _listed(listing):
        if os.path.exists(f"{store}/{revision}/{CURRENT}"):
            continue
        for mark in (NEW, ADOPTED, REPLACED):
            with suppress(OSError):  # derived from the listing
                os.rename(f"{store}/{revision}/{mark}", f"{store}/{revision}/{CURRENT}")
        if not os.path.exists(f"{store}/{revision}/{CURRENT}"):
            with suppress(OSError):
                (store / revision / CURRENT).touch()


def are_marked(store: Path, listing: Listing) -> bool:
    """Return whether the revisions of a listing are marked as current."""
    return all(os.path.exists(f"{store}/{revision}/{CURRENT}") for revision in _listed(listing))


def revision_of(run: ListedRun) -> str:
    """Return the name of a run's revision, or another name if its files were copied in."""
    return run.directory.split(os.sep)[-2]


def _listed(listing: Listing) -> Iterator[str]:
    for run in listing.runs.values():
        if run.directory.startswith(f"{REVISIONS}{os.sep}"):
            yield run.directory.rpartition(os.sep)[0]


def mark_replaced(store: Path, directories: Iterable[str]) -> None:
    """Note that the listing no longer names these revisions. Raise OSError if that fails."""
    for directory in directories:
        for mark in (NEW, ADOPTED, CURRENT):
            with suppress(FileNotFoundError, NotADirectoryError):
                revision = store / os.path.dirname(directory)
                os.rename(revision / mark, revision / REPLACED)


def unlisted_runs(store: Path, listing: Listing, run_ids: Container[str]) -> list[str]:
    """Return the directories of these runs in revisions that are not in the listing."""
    return [
        directory
        for _, revision, mark in unlisted(store, listing)
        for directory in (runs_in(store, revision) if mark in (CURRENT, ADOPTED) else ())
        if os.path.basename(directory).removeprefix(PREFIX) in run_ids
    ]


def runs_in(store: Path, revision: str) -> list[str]:
    """Return the directories of runs in a revision, which is one if the revision is whole."""
    names = names_in(store / revision)
    return [f"{revision}/{name}" for name in names if name.startswith(PREFIX)]


def unlisted(store: Path, listing: Listing | None) -> Iterator[tuple[str, str, str | None]]:
    """Yield the version, the path in the store and the mark of each revision not in the listing."""
    used = set(_listed(listing)) if listing else ()
    for name in names_in(store / REVISIONS):
        version = UNVERSIONED if name == UNVERSIONED_NAME else name
        for revision in readable_names_in(store / REVISIONS / name):
            if (path := f"{REVISIONS}/{name}/{revision}") not in used:
                names = readable_names_in(store / path)
                marks = (mark for mark in (CURRENT, ADOPTED, REPLACED, NEW) if mark in names)
                yield version, path, next(marks, None)


def deletable(store: Path, listing: Listing, is_locked: bool = False) -> list[Path]:
    """Return the revisions and indexes that nobody needs any more and nobody can be reading.

    `is_locked` tells whether no other process can be writing.
    """
    unused = []
    for _, revision, mark in unlisted(store, listing):
        is_empty = mark == ADOPTED and names_in(store / revision) == [ADOPTED]
        is_unused = mark in (NEW, REPLACED) or is_empty
        if changed_ns := is_unused and _changed_ns(store / revision):
            delay_ns = 0 if mark == REPLACED or is_locked else int(DELAY_SECONDS * 1e9)
            unused.append((store / revision, changed_ns + delay_ns))
    for (_, file), (replaced_ns, _) in pairwise(indexes(store)):
        if file != index_path(store, listing):
            unused.append((file, replaced_ns))
    if not unused:
        return []
    horizon = horizon_ns(store)
    return [path for path, replaced_ns in unused if replaced_ns < horizon]


def delete_unused(store: Path, listing: Listing, is_locked: bool) -> None:
    """Delete the revisions and indexes that nobody needs any more and nobody can be reading.

    `is_locked` tells whether this process holds the store's lock.
    """
    for path in deletable(store, listing, is_locked):
        with suppress(OSError):  # another user's
            if path.is_dir():
                _delete(store, path)
            else:
                path.unlink()
    _drop_unused_versions(store, listing)


def _delete(store: Path, directory: Path) -> None:
    """Delete a directory in one step. If the process is killed, the next one sweeps the rest."""
    rest = store / f"{WORK}{uuid.uuid4().hex[:12]}"
    directory.rename(rest)
    shutil.rmtree(rest)


def _drop_unused_versions(store: Path, listing: Listing) -> None:
    """Remove the directories of versions whose last revision is gone, other than this version's.

    A directory in `runs` with anything else than links and empty tables stays.
    """
    used = {run.version for run in listing.runs.values()} | {sql.schema_version()}
    copied_in = {store / run.path for run in published(store) if not run.target}
    for name in names_in(store / REVISIONS):
        version = UNVERSIONED if name == UNVERSIONED_NAME else name
        if version not in used:
            with suppress(OSError):  # there are others
                (store / REVISIONS / name).rmdir()
                directory = version_directory(store, version)
                entries = [directory / entry for entry in names_in(directory)]
                if version == UNVERSIONED:
                    _delete(store, directory / EMPTY)
                elif all(e.name.startswith(PREFIX) and e not in copied_in for e in entries):
                    _delete(store, directory)


def _changed_ns(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:  # deleted meanwhile
        return None
