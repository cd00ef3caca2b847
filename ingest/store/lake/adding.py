"""Adding of new files to a lake, and rebuilding of its runs from their original files.

Worker processes write runs to a local directory. This process uploads them in batches: libraries
for object storage do not work in forks.
"""

import shutil
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ingest import sql
from ingest.conversion import AddOptions
from ingest.errors import IngestError, StoreError
from ingest.formats import Source
from ingest.inputs import RunInput, read_run_input
from ingest.store import run_ids
from ingest.store.directory.files.places import PREFIX
from ingest.store.lake.batch import WrittenRun, add_batch, is_full, replace_run
from ingest.store.lake.compaction import compact_if_due
from ingest.store.lake.rewriting import manifest_of_run
from ingest.store.storage import Added, AddOutcomes, RebuildOutcomes
from ingest.store.workers import in_processes
from ingest.store.written import Written, read_original, write
from ingest.temporary import temporary_directory

if TYPE_CHECKING:
    from ingest.store.lake.lake import Lake

Progress = Callable[[Path, int], None]


@dataclass(frozen=True)
class _Converted:
    """A path whose files were read. `written` is None if the lake may have them already."""

    digest: str
    checksums: list[str]
    sources: list[Source]
    seconds: float
    written: Written | None


def add_to_lake(
    lake: "Lake",
    paths: Sequence[Path],
    options: AddOptions,
    jobs: int = 1,
    progress: Progress | None = None,
) -> AddOutcomes:
    """Add each path as a run, in batches, as `Storage.add_all` does."""
    with temporary_directory() as work:
        adder = _Adder(lake, work, options)
        waiting = list(dict.fromkeys(paths))
        while waiting:
            again = []
            for path, outcome in in_processes(waiting, adder.convert, jobs, progress):
                try:
                    existing = None if isinstance(outcome, IngestError) else adder.existing(outcome)
                except StoreError as error:
                    outcome, existing = error, None
                if isinstance(outcome, IngestError):
                    yield path, outcome
                elif existing:
                    yield path, Added(existing, False, outcome.seconds, [])
                elif outcome.written is None:  # other files, and by chance the same digits
                    again.append(path)
                else:
                    yield from adder.add(path, outcome)
            waiting, adder.skips_likely = again, False
        yield from adder.flush()
    compact_if_due(lake.place)


class _Adder:
    """Collects written runs, and adds them to the lake when a batch is full.

    `skips_likely`: whether files are not converted if the id of a run says that the lake has them.
    """

    def __init__(self, lake: "Lake", work: Path, options: AddOptions) -> None:
        self.skips_likely = True
        self._lake = lake
        self._work = work
        self._options = options.without_secrets()
        self._captures = [Path(file) for file in options.capture_traces]
        self._known = {file.path for file in lake.head.files}
        self._ids = set(lake.runs)
        self._digits = run_ids.by_digits(lake.runs)
        self._own: dict[str, str] = {}  # digests and ids of the runs that were written here
        self._waiting: list[tuple[Path, _Converted, str]] = []
        self._runs: list[tuple[WrittenRun, Path]] = []

    def convert(
        self, path: Path, threads: int | None, progress: Callable[[int], None]
    ) -> _Converted:
        """Read files, and write their run. Worker processes call this."""
        began = time.perf_counter()
        run = read_run_input(path, captures=self._captures)
        written = None
        if not (self.skips_likely and self.likely(run.digest)):
            written = _write(run, self._options, self._work, threads, progress)
        seconds = time.perf_counter() - began
        return _Converted(run.digest, run.checksums, run.sources, seconds, written)

    def likely(self, digest: str) -> list[str]:
        """Return the runs of the lake whose ids have the first digits of a digest."""
        return run_ids.likely(self._digits, digest)

    def existing(self, converted: _Converted) -> str | None:
        """Return the id of the run with the same files, or None."""
        for run_id in self.likely(converted.digest):
            manifest = manifest_of_run(self._lake.place, self._lake.head, run_id)
            if manifest.checksums == converted.checksums:
                return run_id
        return None

    def add(self, path: Path, converted: _Converted) -> Iterator[tuple[Path, Added | IngestError]]:
        """Collect a run. Yield the outcomes of a batch that is full by it."""
        if converted.digest in self._own:  # an earlier path has the same files
            self._waiting.append((path, converted, self._own[converted.digest]))
            return
        assert converted.written is not None
        run_id = run_ids.new_id(converted.written.name, converted.digest, self._ids)
        self._ids.add(run_id)
        self._own[converted.digest] = run_id
        self._waiting.append((path, converted, run_id))
        self._runs.append((_written_run(run_id, converted.written), converted.written.row))
        if is_full([run for run, _ in self._runs]):
            yield from self.flush()

    def flush(self) -> Iterator[tuple[Path, Added | IngestError]]:
        """Add the collected runs. Yield their paths with their outcomes."""
        runs, self._runs = self._runs, []
        waiting, self._waiting = self._waiting, []
        new: list[str] = []
        error = None
        try:
            if runs:
                written = [run for run, _ in runs]
                new = add_batch(self._lake.place, written, _index(runs), self._known)
        except StoreError as failure:
            error = failure
        for _, row in runs:
            shutil.rmtree(row.parent, ignore_errors=True)
        for path, converted, run_id in waiting:
            if run_id in new:
                new.remove(run_id)
                yield path, Added(run_id, True, converted.seconds, converted.sources)
            else:  # another path or process may have added the same files
                yield path, error or Added(run_id, False, converted.seconds, [])


def rebuild_in_lake(
    lake: "Lake",
    chosen: Sequence[str],
    jobs: int = 1,
    progress: Callable[[str, int], None] | None = None,
) -> RebuildOutcomes:
    """Rebuild each run from its original files, as `Storage.rebuild_all` does."""
    manifests = {run_id: manifest_of_run(lake.place, lake.head, run_id) for run_id in chosen}
    with temporary_directory() as work:

        def build(run_id: str, threads: int | None, report: Callable[[int], None]) -> Written:
            manifest = manifests[run_id]
            run = read_original(run_id, manifest)
            added_at = datetime.fromisoformat(manifest.added_at)
            return _write(run, manifest.options, work, threads, report, added_at)

        for run_id, outcome in in_processes(chosen, build, jobs, progress):
            if isinstance(outcome, IngestError):
                yield run_id, outcome
                continue
            run = _written_run(run_id, outcome)
            try:
                replace_run(lake.place, run, _index([(run, outcome.row)]))
            except StoreError as error:
                yield run_id, error
            else:
                yield run_id, None
            shutil.rmtree(outcome.row.parent, ignore_errors=True)
    lake.drop_damaged()


def _write(
    run: RunInput,
    options: AddOptions,
    work: Path,
    threads: int | None,
    progress: Callable[[int], None],
    added_at: datetime | None = None,
) -> Written:
    directory = work / uuid.uuid4().hex
    directory.mkdir()
    return write(run, options, directory, threads, progress, added_at)


def _written_run(run_id: str, written: Written) -> WrittenRun:
    directory = written.directory.rename(written.directory.with_name(f"{PREFIX}{run_id}"))
    tables = sorted(file.stem for file in directory.glob("*.parquet"))
    return WrittenRun(directory, tables, written.manifest)


def _index(runs: Collection[tuple[WrittenRun, Path]]) -> str:
    """Return a SQL relation: the rows of the index of runs, each in a file of its own."""
    rows = (
        f"SELECT {sql.literal(run.run_id)} AS run_id, * EXCLUDE (run_id) FROM {sql.literal(row)}"
        for run, row in runs
    )
    return f"({' UNION ALL BY NAME '.join(rows)})"
