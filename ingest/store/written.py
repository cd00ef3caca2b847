"""Runs that were written but are not yet in a store, from new files or from the original ones."""

import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from time import perf_counter

from ingest.conversion import AddOptions, utc_now, write_run
from ingest.errors import ObjectError, ProfileError, StoreError
from ingest.formats import Source
from ingest.inputs import RunInput, content_digest, input_path, read_run_input
from ingest.store.known import Known
from ingest.store.manifest import Manifest, read_manifest

RUN = "run"
ROW = "index_row.parquet"


@dataclass(frozen=True)
class Read:
    """Files that were read: their checksums and kinds, and the seconds that this took."""

    checksums: list[str]
    sources: list[Source]
    seconds: float

    @property
    def digest(self) -> str:
        """The digest of the files, whose first digits are in the run's id."""
        return content_digest(self.checksums)

    def forget(self) -> None:
        """Delete the files that were written, because nobody needs them any more."""


@dataclass(frozen=True)
class NewRun(Read, ABC):
    """A run that was written, here or on another machine."""

    name: str

    @property
    @abstractmethod
    def bytes(self) -> int:
        """The size of the run's files."""


@dataclass(frozen=True)
class Written(NewRun):
    """A run that was written here: its directory, manifest, and the file with its index row."""

    directory: Path
    manifest: Manifest
    row: Path

    @cached_property
    def bytes(self) -> int:
        """The size of the run's files."""
        return sum(file.stat().st_size for file in self.directory.iterdir())

    def forget(self) -> None:
        """Delete the run's files."""
        shutil.rmtree(self.directory.parent, ignore_errors=True)

    def unpacked(self, work: Path) -> "Written":
        """Return the run itself, as `Packed.unpacked` does."""
        return self

    def packed(self) -> "Packed":
        """Return the run with the content of its files, for another machine."""
        files = {file.name: file.read_bytes() for file in self.directory.iterdir()}
        row = self.row.read_bytes()
        return Packed(self.checksums, self.sources, self.seconds, self.name, files, row)


@dataclass(frozen=True)
class Packed(NewRun):
    """The content of the files of a run."""

    files: Mapping[str, bytes]
    row: bytes

    @property
    def bytes(self) -> int:
        """The size of the run's files."""
        return sum(map(len, self.files.values()))

    def unpacked(self, work: Path) -> Written:
        """Write the files to a new directory in the directory `work`."""
        directory, row = work / RUN, work / ROW
        directory.mkdir(parents=True)
        for name, content in self.files.items():
            (directory / name).write_bytes(content)
        row.write_bytes(self.row)
        manifest = read_manifest(directory)
        assert manifest  # the same version wrote it
        read = (self.checksums, self.sources, self.seconds)
        return Written(*read, self.name, directory, manifest, row)


def convert(
    path: Path,
    work: Path,
    threads: int | None,
    progress: Callable[[float], None] | None,
    *,
    options: AddOptions,
    captures: Sequence[str],
    known: Known,
) -> Read:
    """Read the files of a path, and write their run to the directory `work`.

    `options` are without secrets, and `captures` are its `capture_traces` as they were. Nothing is
    written if the store may have a run with the same files (`known`). The other arguments and the
    errors are those of `ingest.conversion.write_run`.
    """
    began = perf_counter()
    # A path of an object keeps a connection, which this process may not have opened.
    run = read_run_input(input_path(path), captures=[*map(input_path, captures)])
    if known.may_have(run):
        return Read(run.checksums, run.sources, perf_counter() - began)
    return write(run, options, work, threads, progress)


def converting(options: AddOptions, known: Known) -> "partial[Read]":
    """Return `convert` with options. It removes their secrets first."""
    captures = options.capture_traces
    return partial(convert, options=options.without_secrets(), captures=captures, known=known)


def write(
    run: RunInput,
    options: AddOptions,
    work: Path,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
    added_at: datetime | None = None,
) -> Written:
    """Write the tables and the manifest of a run to a new directory in the directory `work`.

    The other arguments and the errors are those of `ingest.conversion.write_run`.
    """
    began = perf_counter()
    directory, row = work / RUN, work / ROW
    directory.mkdir()
    added_at = added_at or utc_now()
    name = write_run(run, options, directory, row, threads, progress, added_at)
    manifest = Manifest.of(run, options, directory, added_at)
    manifest.write(directory)
    read = (run.checksums, run.sources, perf_counter() - began)
    return Written(*read, name, directory, manifest, row)


def write_again(
    run_id: str,
    work: Path,
    threads: int | None,
    progress: Callable[[float], None] | None,
    *,
    manifests: Mapping[str, Manifest],
) -> Written:
    """Write a run from its original files. Otherwise as `write`.

    Raise StoreError if they are not the same as then.
    """
    manifest = manifests[run_id]
    run = _read_original(run_id, manifest)
    added_at = datetime.fromisoformat(manifest.added_at)
    return write(run, manifest.options, work, threads, progress, added_at)


def _read_original(run_id: str, manifest: Manifest) -> RunInput:
    """Return the original files of a run. Raise StoreError if they are not the same as then."""
    if not manifest.path:
        raise StoreError(
            f"{run_id}: the path of its original files was redacted; add the files again"
        )
    try:
        captures = [*map(input_path, manifest.options.capture_traces)]
        run = read_run_input(input_path(manifest.path), captures=captures)
        run.read_checksums()
    except (ProfileError, ObjectError) as error:
        raise StoreError(f"{run_id}: cannot read its original files: {error}") from error
    if manifest.checksums not in (run.checksums, run.own_checksums):
        raise StoreError(
            f"{run_id}: the files in {manifest.path} have changed since they were read"
        )
    return run
