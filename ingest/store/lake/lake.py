"""A lake: finds, changes and checks the runs at a URL, and opens connections to them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import duckdb

from ingest import sql
from ingest.conversion import AddOptions
from ingest.errors import StoreError
from ingest.store import run_ids
from ingest.store.cluster import workers_at
from ingest.store.directory.reading.private import private_directory
from ingest.store.faults import Fault
from ingest.store.lake.adding import add_to_lake, rebuild_in_lake
from ingest.store.lake.answers import is_of_storage, own_message, reason
from ingest.store.lake.changes import edit, remove
from ingest.store.lake.checking import Damaged, drop, find_damaged
from ingest.store.lake.commits import create
from ingest.store.lake.head import Head
from ingest.store.lake.kept import kept_directory
from ingest.store.lake.place import LakePlace
from ingest.store.lake.snapshot import LakeRun, Snapshot
from ingest.store.place import url_of
from ingest.store.storage import AddOutcomes, RebuildOutcomes

T = TypeVar("T")


class Lake:
    """The runs at a URL, as they are at the last refresh, or as they were at the time `as_of`.

    The constructor raises StoreError if there is no lake.
    """

    def __init__(self, place: str | Path, as_of: datetime | None = None) -> None:
        self.place = LakePlace(url_of(str(place)))
        self._as_of = as_of
        self.snapshot = Snapshot(self.place, as_of)
        self._damaged: list[Damaged] = []

    @classmethod
    def existing(cls, place: str | Path, as_of: datetime | None = None) -> "Lake":
        """Open the lake at a URL (`Storage.existing`)."""
        return cls(place, as_of)

    @classmethod
    def created(cls, place: str | Path) -> "Lake":
        """Open the lake at a URL, which is created if it does not exist."""
        lake_place = LakePlace(url_of(str(place)))
        with lake_place.reported("write"):
            create(lake_place)
        return cls(place)

    @property
    def path(self) -> str:
        """The URL."""
        return self.place.url

    @property
    def head(self) -> Head:
        """The version of `runs` at the last refresh."""
        return self.snapshot.head

    @property
    def runs(self) -> Mapping[str, LakeRun]:
        """The runs by id, sorted."""
        return self.snapshot.runs

    @property
    def state(self) -> str:
        """A text that changes whenever a run is added, removed or changed."""
        return f"{self.path} {self.head.table.version()}"

    @property
    def connection_state(self) -> str:
        """A text that changes whenever open connections can no longer see all runs."""
        return self.state

    def refresh(self) -> None:
        """See what other processes changed meanwhile. Open connections do not."""
        with self.place.reported("read"):
            if not self._as_of and self.head.has_successor(self.place):
                self.snapshot = Snapshot(self.place)

    def run_ids(self) -> list[str]:
        """Return the ids of all runs, sorted."""
        return list(self.runs)

    def find(self, reference: str) -> str:
        """Return the id of the run that an id, a unique beginning of an id, or a name refers to.

        Raise StoreError if `reference` matches no run or several.
        """
        if self.snapshot.runs_with([reference]):  # without reading all ids
            return reference
        return run_ids.find(self.path, self._names(), reference)

    def find_exactly(self, reference: str) -> str:
        """Return the id of the run that a full id or a name refers to.

        Raise StoreError if `reference` matches no run or several.
        """
        if self.snapshot.runs_with([reference]):
            return reference
        return run_ids.find_exactly(self.path, self._names(), reference)

    def add_all(
        self,
        paths: Sequence[Path],
        options: AddOptions,
        jobs: int = 1,
        progress: Callable[[Path, float], None] | None = None,
        cluster: str | None = None,
    ) -> AddOutcomes:
        """Add each path as a run (`Storage.add_all`). The runs of a batch appear at once."""
        with workers_at(cluster, jobs) as workers:
            yield from add_to_lake(self, paths, options, workers, progress)

    def rebuild_all(
        self,
        run_ids: Sequence[str],
        jobs: int = 1,
        progress: Callable[[str, float], None] | None = None,
        cluster: str | None = None,
    ) -> RebuildOutcomes:
        """Rebuild each run from its original files (`Storage.rebuild_all`)."""
        with workers_at(cluster, jobs) as workers:
            yield from rebuild_in_lake(self, run_ids, workers, progress)

    def remove(self, *run_ids: str) -> None:
        """Remove runs in one atomic step. Raise StoreError if one is not there."""
        if run_ids:
            remove(self.place, run_ids)
            self.drop_damaged()

    def edit(self, run_id: str, changes: AddOptions) -> None:
        """Change the labels of a run (`Storage.edit`)."""
        edit(self.place, run_id, changes)

    def create_views(
        self,
        connection: duckdb.DuckDBPyConnection,
        run_ids: Collection[str] = (),
        only: bool = False,
    ) -> None:
        """Create every table, view and macro in a connection (`Snapshot.create_views`)."""
        self.snapshot.create_views(connection, run_ids)

    def outdated(self) -> list[str]:
        """Return the ids of the runs that another version of tracehouse wrote, sorted."""
        with self.place.reported("read"), duckdb.connect() as connection:
            self.create_views(connection)
            rows = connection.execute(
                "SELECT run_id FROM runs WHERE logic_version <> $1 ORDER BY run_id",
                [sql.logic_version()],
            ).fetchall()
        return [run_id for (run_id,) in rows]

    def check(self, repair: bool = False) -> None:
        """Read all files to check them. Then `faults` has the runs that may be damaged."""
        with self.place.reported("read"):
            self._damaged = find_damaged(self.snapshot)

    def faults(self) -> dict[str, Fault]:
        """Return the faults of runs that the last check found, by run id."""
        return {
            run_id: damaged.fault
            for damaged in self._damaged
            for run_id in self.snapshot.runs_in(damaged.table, damaged.file)
        }

    def drop_damaged(self) -> None:
        """Drop the damaged files that the last check found, once all their runs are rebuilt."""
        if self._damaged:
            with self.place.reported("write"):
                drop(self.place, self._damaged, {i: self.runs[i].batch for i in self.faults()})

    def places_read(self) -> list[str]:
        """Return the directories and URLs that statements of a connection read."""
        own = (private_directory(), kept_directory(self.place))
        return [self.place.path(""), *map(str, own)]

    @staticmethod
    def answer(place: str, query: Callable[[], T]) -> T:
        """Return the result of `query`. Raise StoreError if a file of the lake cannot be read."""
        try:
            return query()
        except (duckdb.Error, OSError) as error:
            if message := own_message(error):
                raise StoreError(message) from error
            if is_of_storage(error) or f"{place.removeprefix('file://')}/" in str(error):
                raise StoreError(f"{place}: cannot read the store: {reason(error)}") from error
            raise

    @staticmethod
    def keeping_files(place: str) -> AbstractContextManager[None]:
        """Do nothing: `ingest vacuum` keeps files for days (`Storage.keeping_files`)."""
        return nullcontext()

    def _names(self) -> dict[str, str | None]:
        return {run_id: run.name for run_id, run in self.runs.items()}
