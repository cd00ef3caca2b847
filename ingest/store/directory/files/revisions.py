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
import time
import uuid
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from ingest.store.directory.files.listing import ListedRun, Listing
from ingest.store.directory.files.locking import sync_names
from ingest.store.directory.files.modes import make_directories, share
from ingest.store.directory.files.places import (
    PREFIX,
    REVISIONS,
    UNVERSIONED,
    UNVERSIONED_NAME,
    names_in,
    readable_names_in,
    revisions_directory,
)

NEW = "new"
ADOPTED = "adopted"
CURRENT = "current"
REPLACED = "replaced"


def place(store: Path, work: Path, version: str, run_id: str, files: Path, mark: str = NEW) -> str:
    """Move the directory `files` to a new revision of a run. Return its path in the store.

    Names of later revisions sort last. If `files` is a link, its target stays where it is. `work`
    is a work directory. All users of the store can read files that come from it. The caller must
    hold the store's lock. Raise OSError if the files cannot be moved.
    """
    revision = revisions_directory(store, version) / f"{time.time_ns():019}-{uuid.uuid4().hex[:8]}"
    make_directories(store, revision.parent.parent, revision.parent)
    (work / revision.name).mkdir()
    (work / revision.name / mark).touch()
    (work / revision.name).rename(revision)  # a revision always has a mark
    placed = revision / f"{PREFIX}{run_id}"
    try:
        if files.is_symlink():
            parent, name = os.path.split(os.path.join(files.parent, os.readlink(files)))
            placed.symlink_to(os.path.join(os.path.realpath(parent), name))
            files.unlink()
        else:
            if files.is_relative_to(work):
                share(store, files, *files.iterdir())
            files.rename(placed)
    except BaseException:
        if os.path.lexists(files):  # it could not be moved
            revision.rename(work / revision.name)
        raise
    share(store, revision, revision / mark)
    for directory in (revision, revision.parent, revision.parent.parent):
        sync_names(directory)
    return str(placed.relative_to(store))


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
    """Return whether the revisions of a listing are marked as current.

    Those that this user may not read count as marked.
    """
    known = listing.without({run.run_id for run in listing.denied()})
    return all(os.path.exists(f"{store}/{revision}/{CURRENT}") for revision in _listed(known))


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
