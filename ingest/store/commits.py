"""The commit: making a listing the store's.

One rename of the listing is the commit. If it fails, nothing has changed. All that follows is
derived from the listing, and the next process that opens the store makes up for what failed.
"""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path

import duckdb

from ingest.disk import cause
from ingest.store.index import INDEX, NAME, index_path, is_indexed
from ingest.store.indexing import write_index
from ingest.store.inventory import published, revisions
from ingest.store.leases import horizon_ns
from ingest.store.listing import LISTING, Listing
from ingest.store.locking import sync_names
from ingest.store.places import CURRENT, EMPTY, PREFIX, RUNS, link_path


def commit(
    store: Path, work: Path, listing: Listing, rows: Mapping[str, Path] | None = None
) -> tuple[Listing, list[str]]:
    """Make `listing` the store's, and return it with the faults found meanwhile.

    Also return a message for each derived thing that could not be written. `work` is a work
    directory. `rows` maps ids of new runs to the files with their rows of the index. The caller
    must hold the store's lock. Raise OSError if the listing cannot be written.
    """
    failed: list[str] = []
    with _derived(store, "the index", failed):
        if not is_indexed(store, listing):
            faults = write_index(work / INDEX, store, listing, rows)
            listing = listing.with_faults(faults)
            put(work / INDEX, index_path(store, listing), work)
    listing.write(work / LISTING)
    put(work / LISTING, store / LISTING, work)
    sync_names(store)
    with _derived(store, "the links of runs", failed):
        publish(store, work, listing)
    with suppress(OSError):
        delete_unused(store, listing)
    return listing, failed


def put(source: Path, target: Path, work: Path) -> None:
    """Rename `source` to `target`, which may exist, even as a directory."""
    try:
        os.replace(source, target)
    except IsADirectoryError:
        target.rename(work / f"{target.name}.displaced")
        os.replace(source, target)


def publish(store: Path, work: Path, listing: Listing) -> None:
    """Let the links in the store, which other programs read, lead to the runs of the listing."""
    wanted = {
        link_path(store, run.version, run.run_id): store / run.directory
        for run in listing.readable()
    }
    for _, entry, is_ours in list(published(store)):
        if is_ours and Path(entry.path) not in wanted:
            os.unlink(entry.path)
    for link, directory in wanted.items():
        _link(link, Path(os.path.relpath(directory, link.parent)), work)
    index = index_path(store, listing)
    if index.exists() and not _leads_to(store / INDEX, index.name):
        (work / "index").symlink_to(index.name)
        put(work / "index", store / INDEX, work)


def is_published(store: Path, listing: Listing) -> bool:
    """Return whether the links of the store are those of the runs of the listing."""
    wanted = {(run.version, f"{PREFIX}{run.run_id}") for run in listing.readable()}
    links = {(version, entry.name) for version, entry, is_ours in published(store) if is_ours}
    return wanted == links and _leads_to(store / INDEX, index_path(store, listing).name)


def delete_unused(store: Path, listing: Listing) -> None:
    """Delete files that no run in `listing` has any more, unless somebody may read them.

    The caller must hold the store's lock.
    """
    for revision in _unused_revisions(store, listing):
        with suppress(FileNotFoundError):
            (revision / CURRENT).unlink()  # which also notes the time
    for path in deletable(store, listing):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def deletable(store: Path, listing: Listing) -> list[Path]:
    """Return the revisions and indexes that no run has any more and nobody can be reading."""
    replaced = [(revision, _changed_ns(revision)) for revision in _unused_revisions(store, listing)]
    indexes = sorted((_changed_ns(file), file) for file in store.glob(NAME.format("*")))
    for (_, file), (replaced_ns, _) in pairwise(indexes):
        if file != index_path(store, listing):
            replaced.append((file, replaced_ns))
    if not replaced:
        return []
    horizon = horizon_ns(store)
    return [path for path, replaced_ns in replaced if replaced_ns < horizon]


def _unused_revisions(store: Path, listing: Listing) -> list[Path]:
    used = {os.path.dirname(run.directory) for run in listing.runs.values()}
    return [store / path for _, path in revisions(store) if path not in used]


def _changed_ns(path: Path) -> int:
    return path.stat().st_mtime_ns


def drop_unused_versions(store: Path, work: Path, listing: Listing, ours: str) -> None:
    """Remove the directories of versions that no run has any more.

    The caller must hold the store's lock.
    """
    used = {run.version for run in listing.runs.values()} | {ours}
    for directory in list((store / RUNS).iterdir()):
        if directory.name == EMPTY and "" not in used:
            directory.rename(work / EMPTY)
        elif not directory.name.startswith(PREFIX) and directory.name not in used:
            directory.rename(work / directory.name)


def _link(link: Path, target: Path, work: Path) -> None:
    if _leads_to(link, str(target)):
        return
    link.parent.mkdir(exist_ok=True)
    new = work / "link"
    new.symlink_to(target)
    try:
        os.replace(new, link)
    except IsADirectoryError:  # a run was copied in: the next process that opens the store moves it
        new.unlink()


def _leads_to(link: Path, target: str) -> bool:
    try:
        return os.readlink(link) == target
    except OSError:
        return False


@contextmanager
def _derived(store: Path, what: str, failed: list[str]) -> Iterator[None]:
    """Add a message to `failed` if the body cannot write in the store."""
    try:
        yield
    except (OSError, duckdb.Error) as error:
        if not (reason := cause(error, store)):
            raise
        failed.append(f"{store}: cannot write {what}: {reason}; the next command will")
