"""Deletion of replaced revisions, old indexes and unused versions when nobody can read them."""

import os
import shutil
import time
import uuid
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from ingest import sql
from ingest.store.directory.derived.index import index_path, indexes
from ingest.store.directory.files.leases import DELAY_SECONDS, horizon_ns
from ingest.store.directory.files.listing import Listing
from ingest.store.directory.files.locking import PREFIX as WORK
from ingest.store.directory.files.places import (
    EMPTY,
    PREFIX,
    REVISIONS,
    UNVERSIONED,
    UNVERSIONED_NAME,
    names_in,
    published,
    revisions_directory,
    version_directory,
    versions,
)
from ingest.store.directory.files.revisions import ADOPTED, NEW, REPLACED, unlisted


def withdraw(store: Path, directory: str, target: Path) -> None:
    """Move the files of a revision that could not be committed to `target`, and delete it."""
    with suppress(OSError):  # the next process that commits deletes it
        (store / directory).rename(target)
        _delete(store, (store / directory).parent)


def deletable(store: Path, listing: Listing, is_locked: bool = False) -> list[Path]:
    """Return the revisions and indexes that nobody needs any more and nobody can be reading.

    `is_locked` tells whether no other process can be writing.
    """
    unused = []
    for _, revision, mark in unlisted(store, listing):
        is_empty = mark == ADOPTED and names_in(store / revision) == [ADOPTED]
        is_unused = mark in (NEW, REPLACED) or is_empty
        changed_ns = _changed_ns(store / revision) if is_unused else None
        if changed_ns is not None:
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

    A directory in `runs` with anything other than links and empty tables stays, and so does a new
    one without revisions: somebody may be copying runs into it.
    """
    delay_ns = int(DELAY_SECONDS * 1e9)
    used = {run.version for run in listing.runs.values()} | {sql.schema_version()}
    copied_in = {store / run.path for run in published(store) if not run.target}
    names = {UNVERSIONED if n == UNVERSIONED_NAME else n for n in names_in(store / REVISIONS)}
    for version in {*versions(store), *names} - used:
        with suppress(OSError):  # it has revisions
            directory = version_directory(store, version)
            if os.path.lexists(revisions_directory(store, version)):
                revisions_directory(store, version).rmdir()
            elif (_changed_ns(directory) or 0) > time.time_ns() - delay_ns:
                continue
            entries = [directory / entry for entry in names_in(directory)]
            is_ours = directory / EMPTY in entries
            if version == UNVERSIONED:
                _delete(store, directory / EMPTY)
            elif is_ours and all(e.name.startswith(PREFIX) and e not in copied_in for e in entries):
                _delete(store, directory)


def _changed_ns(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:  # deleted meanwhile
        return None
