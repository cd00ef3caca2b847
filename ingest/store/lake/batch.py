"""Batches: runs that become visible at once, with a file for each table."""

import time
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from ingest import sql
from ingest.conversion import AddOptions
from ingest.errors import StoreError
from ingest.store.directory.files.places import PREFIX
from ingest.store.lake.commits import Change, change_runs, change_table, check_time, today
from ingest.store.lake.head import Head, LakeFile
from ingest.store.lake.place import REQUESTS, LakePlace
from ingest.store.lake.rewriting import manifest_of_run, runs_in, without_runs
from ingest.store.lake.schema import (
    BATCH,
    DAY,
    MANIFEST,
    RUNS,
    TABLES,
    indexed_kinds,
    kinds_of_tables,
    to_lake,
)
from ingest.store.lake.uploads import uploaded, write
from ingest.store.manifest import Manifest

BATCH_RUNS = 100
BATCH_BYTES = 64 << 20

# Uploads the files of runs with these ids, and returns them by table (`upload_batch`).
Upload = Callable[[Sequence[str]], Mapping[str, LakeFile]]


@dataclass(frozen=True)
class WrittenRun:
    """A run whose tables lie in a local directory, named as in a store (`run_id=<id>`)."""

    directory: Path
    tables: Sequence[str]
    manifest: Manifest

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.directory.name.removeprefix(PREFIX)

    @cached_property
    def bytes(self) -> int:
        """The size of the run's tables."""
        return sum((self.directory / f"{table}.parquet").stat().st_size for table in self.tables)


def is_full(sizes: Collection[int]) -> bool:
    """Return whether runs of these sizes, in bytes, are enough for a batch."""
    return len(sizes) >= BATCH_RUNS or sum(sizes) >= BATCH_BYTES


def batches(runs: Iterable[WrittenRun]) -> Iterator[list[WrittenRun]]:
    """Yield runs in groups for batches."""
    batch: list[WrittenRun] = []
    for run in runs:
        batch.append(run)
        if is_full([run.bytes for run in batch]):
            yield batch
            batch = []
    if batch:
        yield batch


def add_batch(
    place: LakePlace, run_ids: Sequence[str], upload: Upload, known: set[str]
) -> list[str]:
    """Add runs that are not in the files `known` of `runs`. Readers see all of them at once.

    Return the ids of the runs that were added: runs that another process added meanwhile are left
    out. The new file of `runs` becomes known.
    """

    def published(head: Head) -> Change:
        new = [file for file in head.files if file.path not in known]
        if found := runs_in(place, new, run_ids):
            raise _TakenError([run_id for *_, run_id in found])
        return Change(head.state)

    while run_ids:
        try:
            known.add(_add(place, run_ids, upload, published).path)
            break
        except _TakenError as taken:
            run_ids = [run_id for run_id in run_ids if run_id not in taken.run_ids]
    return [*run_ids]


def replace_run(place: LakePlace, run_id: str, options: AddOptions, upload: Upload) -> None:
    """Replace a run of the lake that was built again with these labels.

    Raise StoreError if the run is not there any more, or if its labels changed meanwhile.
    """

    def published(head: Head) -> Change:
        if manifest_of_run(place, head, run_id).options != options:
            raise StoreError(f"{run_id}: its labels changed during the rebuild; try again")
        return without_runs(place, head, [run_id])

    _add(place, [run_id], upload, published)


def upload_batch(place: LakePlace, runs: Sequence[WrittenRun], index: str) -> dict[str, LakeFile]:
    """Upload a file of each table in which a run has rows. Return them by table.

    `index` is a SQL relation with the rows of the index of these runs.
    """
    batch = uuid.uuid4().hex  # no other process writes the same files
    path = f"{DAY}={today()}/{batch}"

    def file(table: str, written: Path) -> LakeFile:
        return uploaded(place, table, written, path)

    with TemporaryDirectory() as work, place.reported("write"):
        files = dict(_written(Path(work), runs, index, batch))
        with ThreadPoolExecutor(REQUESTS) as pool:
            found = dict(zip(files, pool.map(file, files, files.values()), strict=True))
    if RUNS not in found or found[RUNS].rows != len(runs):
        raise StoreError("the index is incomplete; run `ingest check`")
    return found


class _TakenError(StoreError):
    """A lake has some of the runs already. `run_ids` are theirs."""

    def __init__(self, run_ids: Collection[str]) -> None:
        super().__init__(f"{min(run_ids)}: another process added it")
        self.run_ids = run_ids


def _add(
    place: LakePlace, run_ids: Sequence[str], upload: Upload, change: Callable[[Head], Change]
) -> LakeFile:
    """Upload the files of runs, and commit them together with a change. Return the file of `runs`.

    `runs` is committed last.
    """
    began = time.time()
    files = dict(upload(run_ids))
    of_runs = files.pop(RUNS)

    def commit(table: str) -> int:
        return change_table(place, table, [files[table]], began=began)

    def published(head: Head) -> Change:
        check_time(place, began)
        changed = change(head)
        state = changed.state.with_versions(versions)
        return Change(state, [*changed.added, of_runs], changed.dropped)

    with place.reported("write"):
        with ThreadPoolExecutor(REQUESTS) as pool:
            versions = dict(zip(files, pool.map(commit, files), strict=True))
        change_runs(place, published)
    return of_runs


def _written(
    work: Path, runs: Sequence[WrittenRun], index: str, batch: str
) -> Iterator[tuple[str, Path]]:
    """Write a file for each table in which a run has rows. Yield them by table."""
    runs = sorted(runs, key=lambda run: run.run_id)
    ids = [run.run_id for run in runs]
    tables = [[*run.tables] for run in runs]
    manifests = [replace(run.manifest, files={}).as_json() for run in runs]
    with duckdb.connect() as connection:
        for table in kinds_of_tables():
            if not (of_table := [run for run in runs if table in run.tables]):
                continue
            rows, parameters = _rows(table, of_table), []
            if table == RUNS:
                rows, parameters = _with_index(rows, index), [ids, tables, manifests]
            target = work / f"{table}.parquet"
            columns = f"run_id, {sql.literal(batch)} AS {BATCH}, {to_lake(table)}"
            if write(connection, f"SELECT {columns} FROM {rows}", target, parameters):
                yield table, target


def _rows(table: str, runs: Sequence[WrittenRun]) -> str:
    """Return a SQL relation: the rows of the runs in a table, sorted by run."""
    files = [sql.literal(run.directory / f"{table}.parquet") for run in runs]
    return (
        f"read_parquet([{', '.join(files)}], hive_partitioning = true, "
        "hive_types = {'run_id': VARCHAR})"
    )


def _with_index(rows: str, index: str) -> str:
    """Return `rows` of `runs` with the index, and with the parameters: ids, tables, manifests."""
    columns = ", ".join(indexed_kinds())
    return (
        f"(SELECT * FROM {rows} "
        f"INNER JOIN (SELECT unnest($1::VARCHAR[]) AS run_id, unnest($2::VARCHAR[][]) AS {TABLES}, "
        f"unnest($3::VARCHAR[]) AS {MANIFEST}) "
        f"USING (run_id) INNER JOIN (SELECT run_id, {columns} FROM {index}) USING (run_id) "
        "ORDER BY run_id)"
    )
