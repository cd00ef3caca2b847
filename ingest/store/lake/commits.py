"""Commits of the tables of a lake.

Any process may commit to a table at any time. What a commit of `runs` says holds for all tables.
"""

import bisect
import json
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from ingest.errors import StoreError
from ingest.store.directory.files.listing import LISTING
from ingest.store.lake.place import REQUESTS, LakePlace
from ingest.store.lake.schema import DAY, RUNS, arrow_schema, kinds_of_tables, lake_version

WRITER = "tracehouse_tables"  # the version of the tables
STATE = "tracehouse_state"
CHANGE = "tracehouse_change"  # a unique name of the commit
VACUUM = ("VACUUM START", "VACUUM END")
CONFIGURATION: dict[str, str | None] = {
    "delta.logRetentionDuration": "interval 3650 days",
    "delta.checkpointInterval": "10",  # to open a table, few commits are read
}
ATTEMPTS = 30
MOST_HOURS = 12  # from the upload of a file to its commit; later, it counts as a leftover
MERGED = "merged-"  # the beginning of the name of a file with the rows of several batches
REWRITTEN = "another program rewrote its tables, so it is unknown which runs are whole"

if TYPE_CHECKING:
    from deltalake import DeltaTable
    from deltalake.transaction import AddAction, RemoveAction


@dataclass(frozen=True)
class LakeFile:
    """A file of a table: its path in the table, its size, and the first and last of its runs."""

    path: str
    bytes: int
    rows: int
    first: str
    last: str

    @property
    def day(self) -> str:
        """The day of adding, YYYY-MM-DD, in UTC."""
        return self.path.partition("/")[0].partition("=")[2]

    @property
    def name(self) -> str:
        """The file's name without its suffix."""
        return self.path.rpartition("/")[2].removesuffix(".parquet")

    def is_of(self, batches: Collection[str]) -> bool:
        """Return whether rows of one of the batches may be in the file, which is not of `runs`."""
        return self.name.startswith(MERGED) or self.name in batches

    def may_have(self, run_ids: Iterable[str]) -> bool:
        """Return whether rows of one of the runs may be in the file."""
        return any(self.first <= run_id <= self.last for run_id in run_ids)


@dataclass(frozen=True)
class State:
    """What a commit of `runs` says of the other tables.

    `versions` maps tables to the version that readers see. `removed` has the batch and the id of
    each run whose rows are still in a table, and which readers leave out.
    """

    versions: Mapping[str, int] = field(default_factory=dict)
    removed: frozenset[tuple[str, str]] = frozenset()

    def with_versions(self, versions: Mapping[str, int]) -> "State":
        """Return the state with these versions, where they are later."""
        merged = dict(self.versions)
        for table, version in versions.items():
            merged[table] = max(version, merged.get(table, 0))
        return State(merged, self.removed)

    def as_json(self) -> str:
        """Return the state as the commit has it."""
        return json.dumps({"versions": dict(self.versions), "removed": sorted(self.removed)})


@dataclass(frozen=True)
class Head:
    """A version of `runs`."""

    table: "DeltaTable"
    state: State

    @cached_property
    def files(self) -> list[LakeFile]:
        """The files of `runs`."""
        return files_of(self.table)

    def has_successor(self, place: LakePlace) -> bool:
        """Return whether there is a later version."""
        return place.has(RUNS, _log(self.table.version() + 1))


@dataclass(frozen=True)
class Change:
    """A change of `runs`: files to add and to drop, and the state after it."""

    state: State
    added: Sequence[LakeFile] = ()
    dropped: Sequence[LakeFile] = ()


def create(place: LakePlace) -> None:
    """Create the tables that do not exist. `runs` comes last, so a lake with it has all tables.

    Raise StoreError if a store in a directory is there.
    """
    if place.exists(RUNS):
        return
    if place.has("", LISTING):
        raise StoreError(f"{place.url}: this is a store in a directory; name it without file://")
    tables = kinds_of_tables().keys() - {RUNS}
    with ThreadPoolExecutor(REQUESTS) as pool:
        list(pool.map(lambda table: _create(place, table), tables))
    _create(place, RUNS)


def _create(place: LakePlace, table: str) -> None:
    from deltalake import CommitProperties, Schema

    if place.exists(table):
        return
    try:
        place.tables.create(
            place.path(table),
            Schema.from_arrow(arrow_schema(table)),
            partition_by=[DAY],
            storage_options=place.options,
            configuration=CONFIGURATION,
            commit_properties=CommitProperties(custom_metadata=_metadata(State())),
        )
    except Exception:
        if not place.exists(table):  # no other process was faster
            raise


def read_head(place: LakePlace, as_of: datetime | None = None) -> Head:
    """Return the latest version of `runs`, or the one at a time.

    Raise StoreError if another program, or another version of tracehouse, wrote it.
    """
    opened = place.open(RUNS)
    if as_of:
        before = _versions_before(place, as_of, int(opened.version()))
        if not before:
            raise StoreError(f"{place.url}: there was no store at that time")
        opened.load_as_version(before - 1)
    commit = _commit_info(place, int(opened.version()))
    if WRITER not in commit:
        raise StoreError(f"{place.url}: {REWRITTEN}")
    if commit[WRITER] != lake_version():
        raise StoreError(
            f"{place.url}: a version of tracehouse with other tables wrote this store; push to "
            "another URL"
        )
    state = json.loads(commit[STATE])
    return Head(opened, State(state["versions"], frozenset(map(tuple, state["removed"]))))


def read_versions(place: LakePlace, since: datetime) -> dict[str, set[int]]:
    """Return the first and the last version of each table that readers may have open since a time.

    A table may have changed long before a commit of `runs` names its version. So the age of a
    dropped file does not tell whether readers need it.
    """
    head = read_head(place)
    latest = int(head.table.version())
    first = max(0, _versions_before(place, since, latest) - 1)
    versions = {table: set[int]() for table in kinds_of_tables()}
    for version in (first, latest):
        versions[RUNS].add(version)
        of_tables = json.loads(_commit_info(place, version)[STATE])["versions"]
        for table, of_table in of_tables.items():
            versions[table].add(of_table)
    return versions


def change_runs(place: LakePlace, change: Callable[[Head], Change]) -> None:
    """Commit what `change` makes of the latest version of `runs`.

    It is called again if another process commits meanwhile. Raise StoreError if this happens too
    often.
    """
    from deltalake import CommitProperties
    from deltalake.exceptions import CommitFailedError

    for attempt in range(ATTEMPTS):
        head = read_head(place)
        changed = change(head)
        metadata = _metadata(changed.state)
        try:
            head.table.create_write_transaction(
                _actions(changed.added, changed.dropped),
                "append",
                head.table.schema(),
                partition_by=[DAY],
                commit_properties=CommitProperties(custom_metadata=metadata, max_commit_retries=0),
            )
        except Exception as error:
            # The commit may have succeeded, and only the answer was lost.
            has_successor = head.has_successor(place)
            if has_successor:
                next_commit = _commit_info(place, head.table.version() + 1)
                if next_commit.get(CHANGE) == metadata[CHANGE]:
                    return
            if not has_successor or not isinstance(error, CommitFailedError):
                raise
            time.sleep(0.05 * attempt)
            continue
        return
    raise StoreError(f"{place.url}: too many processes change runs at once; try again")


def change_table(
    place: LakePlace,
    table: str,
    added: Sequence[LakeFile],
    dropped: Sequence[LakeFile] = (),
    opened: "DeltaTable | None" = None,
    began: float | None = None,
) -> int:
    """Add uploaded files to a table other than `runs`, and drop others. Return its version then.

    `opened` is the table, if it is open. `began` is the time before the first upload. Raise
    StoreError if another process dropped some of the files `dropped` meanwhile.
    """
    from deltalake.exceptions import CommitFailedError

    for attempt in range(ATTEMPTS):
        if not opened or attempt:
            opened = place.open(table)
        files = {file.path for file in files_of(opened)}
        left = files & {file.path for file in dropped}
        if not left and files >= {file.path for file in added}:  # the last answer was lost
            return int(opened.version())
        if len(left) < len(dropped):
            raise StoreError(f"{place.url}: another process compacts {table}; try again")
        if began:
            check_time(place, began)
        try:
            opened.create_write_transaction(
                _actions(added, dropped), "append", opened.schema(), partition_by=[DAY]
            )
        except CommitFailedError:  # another process dropped files
            time.sleep(0.05 * attempt)
            continue
        opened.update_incremental()
        return int(opened.version())
    raise StoreError(f"{place.url}: too many processes change {table} at once; try again")


def check_time(place: LakePlace, began: float) -> None:
    """Raise StoreError if files that were uploaded since a time may be deleted by now."""
    if time.time() - began > MOST_HOURS * 3600:
        raise StoreError(f"{place.url}: this took more than {MOST_HOURS} hours; try again")


def files_of(table: "DeltaTable") -> list[LakeFile]:
    """Return the files of an open table, in the order of their first runs."""
    actions = table.get_add_actions(flatten=True)
    if not len(actions):
        return []
    names = ("path", "size_bytes", "num_records", "min.run_id", "max.run_id")
    known = [name for name in names if name in actions.schema.names]
    if len(known) < len(names):
        raise StoreError(f"{table.table_uri}: {REWRITTEN}")
    columns = [actions.column(name).to_pylist() for name in names]
    rows = zip(*columns, strict=True)
    return sorted((LakeFile(*row) for row in rows), key=lambda file: (file.first, file.path))


def paths_to_read(place: LakePlace, table: str, files: Iterable[LakeFile]) -> list[str]:
    """Return the paths of files of a table for a connection (`LakePlace.paths_to_read`)."""
    return place.paths_to_read(table, {file.path: file.bytes for file in files})


def today() -> str:
    """Return the day in UTC, by which the files of a table are divided."""
    return f"{datetime.now(UTC):%Y-%m-%d}"


def _commit_info(place: LakePlace, version: int) -> dict[str, str]:
    """Return what the commit of a version of `runs` says of itself.

    A vacuum commits, too. Then it is what the commit before says.
    """
    lines = place.content(RUNS, _log(version)).splitlines()
    entries: list[dict[str, dict[str, str]]] = list(map(json.loads, lines))
    commit = next((entry["commitInfo"] for entry in entries if "commitInfo" in entry), {})
    if commit.get("operation") in VACUUM and version:
        return _commit_info(place, version - 1)
    return commit


def _versions_before(place: LakePlace, time: datetime, latest: int) -> int:
    """Return the number of versions of `runs` that were committed before a time.

    The times are those in the commits: those of files change if somebody copies a lake.
    """

    def milliseconds(version: int) -> float:
        return float(_commit_info(place, version)["timestamp"])

    return bisect.bisect(range(latest + 1), time.timestamp() * 1000, key=milliseconds)


def _log(version: int) -> str:
    """Return the path of the file of a commit, in the table."""
    return f"_delta_log/{version:020}.json"


def _metadata(state: State) -> dict[str, str]:
    return {WRITER: lake_version(), STATE: state.as_json(), CHANGE: uuid.uuid4().hex}


def _actions(
    added: Iterable[LakeFile], dropped: Iterable[LakeFile]
) -> "list[AddAction | RemoveAction]":
    from deltalake.transaction import AddAction, RemoveAction

    now = int(time.time() * 1000)
    actions: list[AddAction | RemoveAction] = [
        RemoveAction(file.path, True, now, file.bytes, {DAY: file.day}) for file in dropped
    ]
    for file in added:
        statistics = {
            "numRecords": file.rows,
            "minValues": {"run_id": file.first},
            "maxValues": {"run_id": file.last},
            "nullCount": {"run_id": 0},
        }
        actions.append(
            AddAction(file.path, file.bytes, {DAY: file.day}, now, True, json.dumps(statistics))
        )
    return actions
