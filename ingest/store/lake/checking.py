"""Checks of the files of a lake."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from ingest.store.faults import CHANGED, MISSING, Fault
from ingest.store.lake.commits import Change, change_runs, change_table
from ingest.store.lake.head import LakeFile
from ingest.store.lake.intact import error_of, is_intact
from ingest.store.lake.place import LakePlace
from ingest.store.lake.schema import RUNS, kinds_of_tables
from ingest.store.lake.snapshot import Snapshot


class Damaged(NamedTuple):
    """A damaged file of a table, and its fault."""

    table: str
    file: LakeFile
    fault: Fault


def find_damaged(snapshot: Snapshot) -> list[Damaged]:
    """Read all files of a snapshot, and return the damaged ones.

    Raise StoreError if one of `runs` is damaged, because nothing can be rebuilt then.
    """
    found = [
        Damaged(table, file, fault)
        for table in kinds_of_tables()
        for file in snapshot.files(table)
        if (fault := _fault(snapshot.place, table, file))
    ]
    for table, _, fault in found:
        if table == RUNS:
            raise error_of(snapshot.place, table, fault)
    return found


def drop(place: LakePlace, damaged: Collection[Damaged], batches: Mapping[str, str]) -> None:
    """Drop damaged files, except those that a run still needs.

    `batches` maps the runs that needed them to their batches. A run that was rebuilt has another.
    """
    now = Snapshot(place).runs
    left = {
        run_id for run_id, batch in batches.items() if run_id in now and now[run_id].batch == batch
    }
    versions = {
        table: change_table(place, table, [], [file])
        for table, file, _ in damaged
        if not file.may_have(left)
    }
    if versions:
        change_runs(place, lambda head: Change(head.state.with_versions(versions)))


def _fault(place: LakePlace, table: str, file: LakeFile) -> Fault | None:
    """Return the fault of a file, whose content is read, or None."""
    name = f"{table}/{file.path}"
    try:
        content = place.filesystem.cat_file(place.path(table, file.path))
    except FileNotFoundError:  # other errors are not about the file
        return Fault(MISSING, name)
    return None if is_intact(file, content) else Fault(CHANGED, name)
