"""Batches: runs that become visible at once, with a file for each table."""

import time
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from ingest import sql
from ingest.errors import StoreError
from ingest.store.directory.files.places import PREFIX
from ingest.store.lake.commits import Change, Head, change_runs, change_table, check_time, today
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


def is_full(runs: Sequence[WrittenRun]) -> bool:
    """Return whether runs are enough for a batch."""
    return len(runs) >= BATCH_RUNS or sum(run.bytes for run in runs) >= BATCH_BYTES


def batches(runs: Iterable[WrittenRun]) -> Iterator[list[WrittenRun]]:
    """Yield runs in groups for batches."""
    batch: list[WrittenRun] = []
    for run in runs:
        batch.append(run)
        if is_full(batch):
            yield batch
            batch = []
    if batch:
        yield batch


def add_batch(
    place: LakePlace, runs: Sequence[WrittenRun], index: str, known: Collection[str]
) -> list[str]:
    """Add runs that are not in the files `known` of `runs`. Readers see all of them at once.

    `index` is a SQL relation with the rows of the index of these runs. Return the ids of the runs
    that were added: runs that another process added meanwhile are left out.
    """

    def published(head: Head) -> Change:
        new = [file for file in head.files if file.path not in known]
        if found := runs_in(place, new, [run.run_id for run in runs]):
            raise _TakenError([run_id for *_, run_id in found])
        return Change(head.state)

    while runs:
        try:
            _add(place, runs, index, published)
            break
        except _TakenError as taken:
            runs = [run for run in runs if run.run_id not in taken.run_ids]
    return [run.run_id for run in runs]


def replace_run(place: LakePlace, run: WrittenRun, index: str) -> None:
    """Replace a run of the lake that was built again. Otherwise as `add_batch`.

    Raise StoreError if the run is not there any more, or if its labels changed meanwhile.
    """

    def published(head: Head) -> Change:
        if manifest_of_run(place, head, run.run_id).options != run.manifest.options:
            raise StoreError(f"{run.run_id}: its labels changed during the rebuild; try again")
        return without_runs(place, head, [run.run_id])

    _add(place, [run], index, published)


class _TakenError(StoreError):
    """A lake has some of the runs already. `run_ids` are theirs."""

    def __init__(self, run_ids: Collection[str]) -> None:
        super().__init__(f"{min(run_ids)}: another process added it")
        self.run_ids = run_ids


def _add(
    place: LakePlace,
    runs: Sequence[WrittenRun],
    index: str,
    change: Callable[[Head], Change],
) -> None:
    """Upload and commit the files of runs, those of `runs` last, together with a change."""
    began = time.time()
    batch = uuid.uuid4().hex  # no other process writes the same files
    path = f"{DAY}={today()}/{batch}.parquet"

    def commit(table: str, written: Path) -> int:
        return change_table(place, table, [uploaded(place, table, written, path)], began=began)

    with TemporaryDirectory() as work, place.reported("write"):
        with ThreadPoolExecutor(REQUESTS) as pool:
            files = dict(_written(Path(work), runs, index, batch))
            of_runs = uploaded(place, RUNS, files.pop(RUNS), path)
            if of_runs.rows != len(runs):
                raise StoreError("the index is incomplete; run `ingest check`")
            versions = dict(zip(files, pool.map(commit, files, files.values()), strict=True))

        def published(head: Head) -> Change:
            check_time(place, began)
            changed = change(head)
            state = changed.state.with_versions(versions)
            return Change(state, [*changed.added, of_runs], changed.dropped)

        change_runs(place, published)


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
