"""Adding of new files to a lake, and rebuilding of its runs from their original files.

Workers write runs. They are processes of this machine, or of a cluster. Workers of a cluster also
upload the files of batches. Otherwise, this process does, because libraries for object storage do
not work in forks.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ingest import sql
from ingest.conversion import AddOptions
from ingest.errors import IngestError, StoreError
from ingest.store import run_ids
from ingest.store.adding import convert_new
from ingest.store.directory.files.places import PREFIX
from ingest.store.lake.batch import WrittenRun, add_batch, is_full, replace_run, upload_batch
from ingest.store.lake.compaction import compact_if_due
from ingest.store.lake.head import LakeFile
from ingest.store.lake.place import LakePlace
from ingest.store.lake.rewriting import manifest_of_run
from ingest.store.storage import Added, AddOutcomes, RebuildOutcomes
from ingest.store.workers import Content, Workers
from ingest.store.written import NewRun, Read, Written, write_again
from ingest.temporary import temporary_directory

if TYPE_CHECKING:
    from ingest.store.lake.lake import Lake


def add_to_lake(
    lake: "Lake",
    paths: Sequence[Path],
    options: AddOptions,
    workers: Workers,
    progress: Callable[[Path, float], None] | None = None,
) -> AddOutcomes:
    """Add each path as a run, in batches, as `Storage.add_all` does."""
    adder = _Adder(lake, workers)
    for path, outcome in convert_new(lake, paths, options, workers, adder.existing, progress):
        if isinstance(outcome, NewRun):
            yield from adder.add(path, outcome)
        else:
            yield path, outcome
    yield from adder.flush()
    compact_if_due(lake.place)


class _Adder:
    """Collects new runs, and adds them to the lake when a batch is full."""

    def __init__(self, lake: "Lake", workers: Workers) -> None:
        self._lake = lake
        self._workers = workers
        self._known = {file.path for file in lake.head.files}
        self._ids = set(lake.runs)
        self._digits = run_ids.by_digits(lake.runs)
        self._own: dict[str, str] = {}  # digests and ids of the runs that were added here
        self._waiting: list[tuple[Path, Read, str]] = []
        self._runs: dict[str, NewRun] = {}

    def existing(self, read: Read) -> str | None:
        """Return the id of the run of the lake with the same files, or None."""
        for run_id in run_ids.likely(self._digits, read.digest):
            manifest = manifest_of_run(self._lake.place, self._lake.head, run_id)
            if manifest.checksums == read.checksums:
                return run_id
        return None

    def add(self, path: Path, run: NewRun) -> Iterator[tuple[Path, Added | IngestError]]:
        """Collect a run. Yield the outcomes of a batch that is full by it."""
        if run.digest in self._own:  # an earlier path has the same files
            self._waiting.append((path, run, self._own[run.digest]))
            run.forget()
            return
        run_id = run_ids.new_id(run.name, run.digest, self._ids)
        self._ids.add(run_id)
        self._own[run.digest] = run_id
        self._waiting.append((path, run, run_id))
        self._runs[run_id] = run
        if is_full([run.bytes for run in self._runs.values()]):
            yield from self.flush()

    def flush(self) -> Iterator[tuple[Path, Added | IngestError]]:
        """Add the collected runs. Yield their paths with their outcomes."""
        runs, self._runs = self._runs, {}
        waiting, self._waiting = self._waiting, []
        new: list[str] = []
        error = None
        try:
            new = add_batch(self._lake.place, [*runs], partial(self._upload, runs), self._known)
        except IngestError as failure:
            error = failure
            for run_id, run in runs.items():  # a later path may have the same files
                del self._own[run.digest]
                self._ids.remove(run_id)
        for run in runs.values():
            run.forget()
        for path, read, run_id in waiting:
            if run_id in new:
                new.remove(run_id)
                yield path, Added(run_id, True, read.seconds, read.sources)
            else:  # another path or process may have added the same files
                yield path, error or Added(run_id, False, read.seconds, [])

    def _upload(self, runs: Mapping[str, NewRun], chosen: Sequence[str]) -> dict[str, LakeFile]:
        upload = partial(_upload, url=self._lake.path)
        return self._workers.call(upload, {run_id: runs[run_id] for run_id in chosen})


def rebuild_in_lake(
    lake: "Lake",
    chosen: Sequence[str],
    workers: Workers,
    progress: Callable[[str, float], None] | None = None,
) -> RebuildOutcomes:
    """Rebuild each run from its original files, as `Storage.rebuild_all` does."""
    manifests = {}
    for run_id in chosen:
        try:
            manifests[run_id] = manifest_of_run(lake.place, lake.head, run_id)
        except StoreError as error:
            yield run_id, error
    writing_again = partial(write_again, manifests=manifests)
    for run_id, outcome in workers.write_all([*manifests], writing_again, progress):
        failure = outcome if isinstance(outcome, IngestError) else None
        if isinstance(outcome, NewRun):

            def upload(run_ids: Sequence[str], run: NewRun = outcome) -> dict[str, LakeFile]:
                upload = partial(_upload, url=lake.path)
                return workers.call(upload, dict.fromkeys(run_ids, run))

            try:
                replace_run(lake.place, run_id, manifests[run_id].options, upload)
            except IngestError as error:
                failure = error
            outcome.forget()
        yield run_id, failure
    lake.drop_damaged()


def _upload(runs: Content, *, url: str) -> dict[str, LakeFile]:
    """Upload runs as a batch. Workers of a cluster call this, too."""
    with temporary_directory() as work:
        written = {run_id: run.unpacked(work / run_id) for run_id, run in runs.items()}
        return upload_batch(
            LakePlace(url),
            [_written_run(run_id, run, work) for run_id, run in written.items()],
            _index(written),
        )


def _written_run(run_id: str, run: Written, work: Path) -> WrittenRun:
    directory = work / f"{PREFIX}{run_id}"
    directory.symlink_to(run.directory)
    tables = sorted(file.stem for file in directory.glob("*.parquet"))
    return WrittenRun(directory, tables, run.manifest)


def _index(runs: Mapping[str, Written]) -> str:
    """Return a SQL relation: the rows of the index of runs, each in a file of its own."""
    rows = (
        f"SELECT {sql.literal(run_id)} AS run_id, * EXCLUDE (run_id) FROM {sql.literal(run.row)}"
        for run_id, run in runs.items()
    )
    return f"({' UNION ALL BY NAME '.join(rows)})"
