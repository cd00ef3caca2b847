"""A lake: finds, changes and checks the runs at a URL, and opens connections to them."""

from collections.abc import Collection, Mapping
from datetime import datetime

import duckdb

from ingest import sql
from ingest.conversion import AddOptions
from ingest.store import run_ids
from ingest.store.files.faults import Fault
from ingest.store.lake.changes import edit, remove
from ingest.store.lake.checking import Damaged, drop, find_damaged
from ingest.store.lake.commits import Head, create
from ingest.store.lake.place import LakePlace
from ingest.store.lake.snapshot import LakeRun, Snapshot
from ingest.store.place import url_of


class Lake:
    """The runs at a URL, as they are at the last refresh, or as they were at the time `as_of`.

    The constructor raises StoreError if there is no lake.
    """

    def __init__(self, url: str, as_of: datetime | None = None) -> None:
        self.place = LakePlace(url_of(url))
        self._as_of = as_of
        self.snapshot = Snapshot(self.place, as_of)
        self._damaged: list[Damaged] = []

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
        return run_ids.find(self.path, self._names(), reference)

    def find_exactly(self, reference: str) -> str:
        """Return the id of the run that a full id or a name refers to.

        Raise StoreError if `reference` matches no run or several.
        """
        return run_ids.find_exactly(self.path, self._names(), reference)

    def remove(self, *run_ids: str) -> None:
        """Remove runs in one atomic step. Raise StoreError if one is not there."""
        if run_ids:
            remove(self.place, run_ids)
            self.drop_damaged()

    def edit(self, run_id: str, changes: AddOptions) -> None:
        """Change the labels of a run, as `ingest.edit` does."""
        edit(self.place, run_id, changes)

    def create_views(
        self, connection: duckdb.DuckDBPyConnection, run_ids: Collection[str] = ()
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

    def _names(self) -> dict[str, str | None]:
        return {run_id: run.name for run_id, run in self.runs.items()}


def created(url: str) -> Lake:
    """Open the lake at a URL. Create it if there is none."""
    place = LakePlace(url_of(url))
    with place.reported("write"):
        create(place)
    return Lake(url)
