"""The commit: one rename of a new listing to the place of the store's.

If it fails, nothing has changed. Everything else is derived from the listing. The next process that
opens the store repeats what failed.
"""

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb

from ingest.disk import cause
from ingest.store.directory.changes.deletion import delete_unused
from ingest.store.directory.changes.inventory import superseded
from ingest.store.directory.derived.index import INDEX, index_path, is_indexed
from ingest.store.directory.derived.indexing import write_index
from ingest.store.directory.files.listing import LISTING, Listing, read_listing
from ingest.store.directory.files.locking import sync_names
from ingest.store.directory.files.modes import make_directories, share
from ingest.store.directory.files.places import (
    Published,
    link_path,
    link_target,
    published,
    target_of,
)
from ingest.store.directory.files.revisions import (
    mark_current,
    mark_replaced,
    unlisted_runs,
)
from ingest.store.faults import DENIED


def commit(
    store: Path,
    work: Path,
    before: Listing | None,
    listing: Listing,
    rows: Mapping[str, Path] | None = None,
    *,
    is_locked: bool = True,
    is_index_suspect: bool = False,
) -> tuple[Listing, list[str]]:
    """Make `listing` the store's, and return it with the faults found meanwhile.

    Also return a message for each derived thing that could not be written. `before` is the store's
    listing, None if it is lost. `work` is a work directory. `rows` maps ids of new runs to the
    files with their rows of the index. `is_locked` tells whether the caller holds the store's lock,
    which some file systems do not have. An index that is suspect is written anew. Raise OSError if
    the listing cannot be written.
    """
    failed: list[str] = []
    with _derived(store, "the index", failed):
        if is_indexed(store, listing) and not is_index_suspect:
            with suppress(OSError):  # another user's
                os.utime(index_path(store, listing))  # an index is deleted when a newer one exists
        else:
            faults = write_index(work / INDEX, store, listing, rows, is_index_suspect)
            if any(fault.code == DENIED for fault in faults.values()):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            listing = listing.with_faults(faults)
            put(work / INDEX, index_path(store, listing), work)
    if listing != before:
        _replace(store, work, before or Listing(), listing)
    with _derived(store, "the links to runs", failed):
        publish(store, work, listing)
    mark_current(store, listing)
    for directory in superseded(store, listing):
        with suppress(OSError):  # another user's
            mark_replaced(store, [directory])
    with suppress(OSError):
        delete_unused(store, listing, is_locked)
    return listing, failed


def _replace(store: Path, work: Path, before: Listing, listing: Listing) -> None:
    """Replace the listing."""
    left = {run.directory for run in listing.runs.values()}
    gone = [
        run.directory
        for run in before.runs.values()
        if run.directory not in left and not run.is_copied_in
    ]
    removed = before.runs.keys() - listing.runs.keys()
    try:
        mark_replaced(store, gone + (unlisted_runs(store, before, removed) if removed else []))
        listing.write(work / LISTING)
        put(work / LISTING, store / LISTING, work)
    except BaseException:
        mark_current(store, read_listing(store) or before)  # Ctrl-C may come after the rename
        raise
    sync_names(store)


def put(source: Path, target: Path, work: Path) -> None:
    """Rename `source` to `target` in the store, which may exist, even as a directory."""
    share(target.parent, source)
    try:
        os.replace(source, target)
    except IsADirectoryError:
        target.rename(work / f"{target.name}.displaced")
        os.replace(source, target)


def publish(store: Path, work: Path, listing: Listing) -> None:
    """Let the links in the store, which other programs read, lead to the runs of the listing.

    Raise OSError if that is impossible.
    """
    found = list(published(store))
    wanted = _links(found, listing)
    for run in found:
        if run.target and run.path not in wanted:
            (store / run.path).unlink(missing_ok=True)
    links = {run.path: run.target for run in found}
    for path, target in wanted.items():
        if links.get(path) != target:
            make_directories(store, (store / path).parent)
            _link(store / path, target, work)
    index = index_path(store, listing)
    if index.exists():
        if link_target(store / INDEX) is None and (store / INDEX).is_dir():
            (store / INDEX).rename(work / "displaced")
        if link_target(store / INDEX) != index.name:
            _link(store / INDEX, index.name, work)


def is_published(store: Path, listing: Listing) -> bool:
    """Return whether the links of the store are those of the runs in the listing."""
    found = list(published(store))
    links = {run.path: run.target for run in found if run.target}
    index = index_path(store, listing)
    return links == _links(found, listing) and link_target(store / INDEX) == index.name


def _links(found: list[Published], listing: Listing) -> dict[str, str]:
    """Return the path and target of each link to a run, except where somebody copied a run in."""
    copied_in = {run.path for run in found if not run.target}
    links = {
        link_path(run.version, run.run_id): target_of(run.version, run.directory)
        for run in listing.readable()
        if not run.is_copied_in
    }
    return {path: target for path, target in links.items() if path not in copied_in}


def _link(path: Path, target: str, work: Path) -> None:
    new = work / "link"
    new.symlink_to(target)
    try:
        os.replace(new, path)
    except IsADirectoryError:  # a run was copied in meanwhile
        new.unlink()


@contextmanager
def _derived(store: Path, what: str, failed: list[str]) -> Iterator[None]:
    """Add a message to `failed` if the body cannot write in the store."""
    try:
        yield
    except (OSError, duckdb.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else cause(error, store)
        if not reason:
            raise
        failed.append(f"{store}: cannot write {what}: {reason}; the next command tries again")
