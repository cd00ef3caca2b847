"""Runs that were written but are not yet in a store, from new files or from the original ones."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ingest.conversion import AddOptions, utc_now, write_run
from ingest.errors import ProfileError, StoreError
from ingest.inputs import RunInput, read_run_input
from ingest.store.manifest import Manifest


@dataclass(frozen=True)
class Written:
    """A run that was written: its name, directory, manifest, and the file with its index row."""

    name: str
    directory: Path
    manifest: Manifest
    row: Path


def write(
    run: RunInput,
    options: AddOptions,
    work: Path,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
    added_at: datetime | None = None,
) -> Written:
    """Write the tables and the manifest of a run to a new directory in the directory `work`.

    The other arguments and the errors are those of `ingest.conversion.write_run`.
    """
    directory, row = work / "run", work / "index_row.parquet"
    directory.mkdir()
    added_at = added_at or utc_now()
    name = write_run(run, options, directory, row, threads, progress, added_at)
    manifest = Manifest.of(run, options, directory, added_at)
    manifest.write(directory)
    return Written(name, directory, manifest, row)


def read_original(run_id: str, manifest: Manifest) -> RunInput:
    """Return the original files of a run. Raise StoreError if they are not the same as then."""
    if not manifest.path:
        raise StoreError(
            f"{run_id}: the path of its original files was redacted; add the files again"
        )
    try:
        captures = [Path(file) for file in manifest.options.capture_traces]
        run = read_run_input(Path(manifest.path), captures=captures)
    except ProfileError as error:
        raise StoreError(f"{run_id}: cannot read its original files: {error}") from error
    if manifest.checksums not in (run.checksums, run.own_checksums):
        raise StoreError(
            f"{run_id}: the files in {manifest.path} have changed since they were read"
        )
    return run
