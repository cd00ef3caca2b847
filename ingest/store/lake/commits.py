"""Commits of the tables of a lake.

Any process may commit to a table at any time. What a commit of `runs` says holds for all tables.
"""

import json
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ingest.errors import StoreError
from ingest.store.directory.files.listing import LISTING
from ingest.store.lake.answers import is_cut_short, repeated
from ingest.store.lake.head import (
    STATE,
    WRITER,
    Head,
    LakeFile,
    State,
    commit_info,
    files_of,
    read_head,
)
from ingest.store.lake.place import REQUESTS, LakePlace
from ingest.store.lake.schema import DAY, RUNS, arrow_schema, kinds_of_tables, lake_version

CHANGE = "tracehouse_change"  # a unique name of the commit
CONFIGURATION: dict[str, str | None] = {
    "delta.logRetentionDuration": "interval 3650 days",
    "delta.checkpointInterval": "10",  # to open a table, few commits are read
}
ATTEMPTS = 30
MOST_HOURS = 12  # from the upload of a file to its commit; later, it counts as a leftover

if TYPE_CHECKING:
    from deltalake import DeltaTable
    from deltalake.transaction import AddAction, RemoveAction


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
            commit_properties=CommitProperties(
                custom_metadata=_metadata(State(), uuid.uuid4().hex)
            ),
        )
    except Exception:
        if not place.exists(table):  # no other process was faster
            raise


def change_runs(place: LakePlace, change: Callable[[Head], Change]) -> None:
    """Commit what `change` makes of the latest version of `runs`.

    It is called again if another process commits meanwhile. Raise StoreError if this happens too
    often.
    """
    from deltalake import CommitProperties
    from deltalake.exceptions import CommitFailedError

    name = uuid.uuid4().hex

    def succeeded(head: Head) -> bool:
        """Return whether a commit after a version is this one, and only the answer was lost."""
        version = head.table.version() + 1
        return place.has_commit(RUNS, version) and commit_info(place, version).get(CHANGE) == name

    last: Head | None = None
    for attempt in range(ATTEMPTS):
        head = read_head(place)
        if last and succeeded(last):  # the storage was slow
            return
        changed = change(head)
        metadata = _metadata(changed.state, name)
        try:
            head.table.create_write_transaction(
                _actions(changed.added, changed.dropped),
                "append",
                head.table.schema(),
                partition_by=[DAY],
                commit_properties=CommitProperties(custom_metadata=metadata, max_commit_retries=0),
            )
        except Exception as error:
            if succeeded(head):
                return
            is_conflict = isinstance(error, CommitFailedError) and head.has_successor(place)
            if not is_conflict and not is_cut_short(error):
                raise
            last = head
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
        except Exception as error:
            is_conflict = isinstance(error, CommitFailedError)  # another process dropped files
            if not is_conflict and not is_cut_short(error):
                raise
            time.sleep(0.05 * attempt)
            continue
        repeated(opened.update_incremental)
        return int(opened.version())
    raise StoreError(f"{place.url}: too many processes change {table} at once; try again")


def check_time(place: LakePlace, began: float) -> None:
    """Raise StoreError if files that were uploaded since a time may be deleted by now."""
    if time.time() - began > MOST_HOURS * 3600:
        raise StoreError(f"{place.url}: this took more than {MOST_HOURS} hours; try again")


def today() -> str:
    """Return the day in UTC, by which the files of a table are divided."""
    return f"{datetime.now(UTC):%Y-%m-%d}"


def _metadata(state: State, name: str) -> dict[str, str]:
    return {WRITER: lake_version(), STATE: state.as_json(), CHANGE: name}


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
