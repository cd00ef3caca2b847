"""What a lake contains at a version: its files, and what the commit of `runs` says of them."""

import bisect
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from ingest.errors import StoreError
from ingest.store.lake.answers import repeated
from ingest.store.lake.place import LakePlace
from ingest.store.lake.schema import RUNS, kinds_of_tables, lake_version

WRITER = "tracehouse_tables"  # the version of the tables
STATE = "tracehouse_state"
VACUUM = ("VACUUM START", "VACUUM END")
MERGED = "merged-"  # the beginning of the name of a file with the rows of several batches
REWRITTEN = "another program rewrote its tables, so it is unknown which runs are whole"

SUFFIX = ".parquet"
DIGITS = 16  # of the SHA-256 in the name of a file

if TYPE_CHECKING:
    from deltalake import DeltaTable


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
        """The file's name without its digest and suffix."""
        return self.path.rpartition("/")[2].rpartition("-")[0]

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
        return place.has_commit(RUNS, self.table.version() + 1)


def read_head(place: LakePlace, as_of: datetime | None = None) -> Head:
    """Return the latest version of `runs`, or the one at a time.

    Raise StoreError if another program, or another version of tracehouse, wrote it.
    """
    opened = place.open(RUNS)
    if as_of:
        before = _versions_before(place, as_of, int(opened.version()))
        if not before:
            raise StoreError(f"{place.url}: there was no store at that time")
        repeated(lambda: opened.load_as_version(before - 1))
    commit = commit_info(place, int(opened.version()))
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
        of_tables = json.loads(commit_info(place, version)[STATE])["versions"]
        for table, of_table in of_tables.items():
            versions[table].add(of_table)
    return versions


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


def commit_info(place: LakePlace, version: int) -> dict[str, str]:
    """Return what the commit of a version of `runs` says of itself.

    A vacuum commits, too. Then it is what the commit before says.
    """
    lines = place.commit(RUNS, version).splitlines()
    entries: list[dict[str, dict[str, str]]] = list(map(json.loads, lines))
    commit = next((entry["commitInfo"] for entry in entries if "commitInfo" in entry), {})
    if commit.get("operation") in VACUUM and version:
        return commit_info(place, version - 1)
    return commit


def _versions_before(place: LakePlace, time: datetime, latest: int) -> int:
    """Return the number of versions of `runs` that were committed before a time.

    The times are those in the commits: those of files change if somebody copies a lake.
    """

    def milliseconds(version: int) -> float:
        return float(commit_info(place, version)["timestamp"])

    return bisect.bisect(range(latest + 1), time.timestamp() * 1000, key=milliseconds)
