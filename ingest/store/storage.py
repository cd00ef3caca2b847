"""What every kind of store does, wherever its bytes lie.

A directory can be locked, and a file in it moved. Object storage can do neither. So the verbs are
those of a store of runs, and each kind writes and reads its files in its own way.
"""

from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar

import duckdb

from ingest.conversion import AddOptions
from ingest.errors import IngestError
from ingest.formats import Source
from ingest.store.faults import Fault
from ingest.units import as_utf8

T = TypeVar("T")


@dataclass(frozen=True)
class Added:
    """The outcome of adding a path: its run, whether that is new, and the files that were read."""

    run_id: str
    is_new: bool
    seconds: float
    sources: list[Source]

    def as_dict(self, path: Path) -> dict[str, Any]:
        """Return the outcome for JSON."""
        return {
            "path": as_utf8(str(path)),
            "run_id": self.run_id,
            "is_new": self.is_new,
            "seconds": round(self.seconds, 3),
            "sources": [source.as_dict() for source in self.sources],
        }


AddOutcomes = Generator[tuple[Path, Added | IngestError], None, None]
RebuildOutcomes = Generator[tuple[str, IngestError | None], None, None]


class Storage(Protocol):
    """A store: runs that any number of processes may add, change, remove and read at once.

    Each method raises StoreError if the store cannot be read or written.
    """

    def __init__(self, place: str | Path) -> None:
        """Open the store at a place. A directory that does not exist is created."""

    @property
    def path(self) -> Path | str:
        """The place of the store: the path of a directory, or a URL."""

    @property
    def state(self) -> str:
        """A text that changes whenever a run is added, removed or changed."""

    @property
    def connection_state(self) -> str:
        """A text that changes whenever open connections can no longer see all runs."""

    @classmethod
    def existing(cls, place: str | Path, as_of: datetime | None = None) -> "Storage":
        """Open the store at a place to read it, as it is or, at a URL, as it was at a time.

        Raise StoreError if there is none.
        """

    @classmethod
    def created(cls, place: str | Path) -> "Storage":
        """Open the store at a place to add to it. It is created if it does not exist."""

    def refresh(self) -> None:
        """See what other processes changed meanwhile."""

    def run_ids(self) -> list[str]:
        """Return the ids of all runs, sorted, including those that cannot be read."""

    def faults(self) -> dict[str, Fault]:
        """Return the known fault of each run that cannot be read, by run id."""

    def find(self, reference: str) -> str:
        """Return the id of the run that an id, a unique beginning of an id, or a name refers to.

        Raise StoreError if `reference` matches no run or several, or if the run cannot be read.
        """

    def find_exactly(self, reference: str) -> str:
        """Return the id of the run that a full id or a name refers to.

        The run may be unreadable. Raise StoreError if `reference` matches no run or several.
        """

    def add_all(
        self,
        paths: Sequence[Path],
        options: AddOptions,
        jobs: int = 1,
        progress: Callable[[Path, float], None] | None = None,
        cluster: str | None = None,
    ) -> AddOutcomes:
        """Add each path as a run. Yield each path with its outcome, as soon as it is known.

        Processes do the work, `jobs` at a time, or the workers of a `cluster` (`cluster_at`).
        `progress` is called with a path and the share of its work that is done, 0 to 1. Closing
        the iterator ends the processes of this machine at once.
        """

    def edit(self, run_id: str, changes: AddOptions) -> None:
        """Change the labels of a run. Its id does not change.

        An empty model, mode or note removes that label, and a tag that is None removes the tag.
        Secrets in labels are redacted. Concurrent edits are not lost. Raise StoreError if there is
        no such run, if it cannot be read, or if its name would be empty.
        """

    def remove(self, *run_ids: str) -> None:
        """Remove runs, each atomically. Raise StoreError if one is not there."""

    def outdated(self) -> list[str]:
        """Return the ids of the runs that another version of tracehouse wrote, sorted."""

    def rebuild_all(
        self,
        run_ids: Sequence[str],
        jobs: int = 1,
        progress: Callable[[str, float], None] | None = None,
        cluster: str | None = None,
    ) -> RebuildOutcomes:
        """Rebuild each run from its original files. Yield each run's id with its error, or None.

        The other arguments and closing the iterator work as in `add_all`.
        """

    def check(self, repair: bool = False) -> None:
        """Read all files of all runs to check them. Then `faults` has the runs that are damaged.

        With `repair`, mend the store's own files too. No other process may use the store then.
        """

    def create_views(
        self,
        connection: duckdb.DuckDBPyConnection,
        run_ids: Collection[str] = (),
        only: bool = False,
    ) -> None:
        """Create all tables, views and macros of the store, with comments, in a connection.

        The connection is in memory, and new. With `run_ids`, only answers about these runs need be
        right. With `only`, too, the tables show no other runs.
        """

    def places_read(self) -> list[str]:
        """Return the directories and URLs that statements of a connection read."""

    @staticmethod
    def answer(place: str, query: Callable[[], T]) -> T:
        """Return the result of `query`, which runs a statement of a connection to a place.

        A run that turns out to be damaged is left out with StoreWarning, and the query runs again,
        where the files of a run are its own.
        """

    @staticmethod
    def keeping_files(place: str) -> AbstractContextManager[object]:
        """Keep the files that statements read in the body, if another process may delete them."""
