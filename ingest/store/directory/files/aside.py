"""Runs that are put aside while they are removed. They return if the process is killed.

    <store>/.work-*/replaced/<path in runs>

Early versions of tracehouse moved runs likewise when they replaced them.
"""

from contextlib import suppress
from pathlib import Path

from ingest.errors import StoreError
from ingest.store.directory.files.listing import read_listing
from ingest.store.directory.files.places import PREFIX, REVISIONS, RUNS

ASIDE = "replaced"


def put_aside(store: Path, work: Path, directory: str) -> None:
    """Move a run's directory in `runs` to a work directory, unless it is gone.

    Raise StoreError if it cannot be moved.
    """
    aside = work / ASIDE / Path(directory).relative_to(RUNS)
    aside.parent.mkdir(parents=True, exist_ok=True)
    try:
        with suppress(FileNotFoundError):
            (store / directory).rename(aside)
    except OSError as error:  # another user's, or on another disk
        raise StoreError(
            f"{store / directory}: cannot move it: {error.strerror}; remove it by hand"
        ) from error


def put_back(store: Path, work: Path) -> None:
    """Put back all runs in a work directory."""
    for run in _aside(work):
        run.rename(store / RUNS / run.relative_to(work / ASIDE))


def put_back_listed(store: Path, work: Path) -> None:
    """Put back the runs in the work directory of a killed process that the listing still names.

    Without a listing, put back those whose names are nowhere else in the store.
    """
    for run in _aside(work):
        directory = f"{RUNS}/{run.relative_to(work / ASIDE)}"
        listing = read_listing(store)
        patterns = (f"{RUNS}/*", f"{RUNS}/*/*", f"{REVISIONS}/*/*/*")
        names = {path.name for pattern in patterns for path in store.glob(pattern)}
        if listing.has(directory) if listing else run.name not in names:
            run.rename(store / directory)


def _aside(work: Path) -> list[Path]:
    return list((work / ASIDE).rglob(f"{PREFIX}*"))
