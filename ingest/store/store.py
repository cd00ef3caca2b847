"""The store: a directory of immutable runs, each a directory of Parquet files.

    <store>/runs/run_id=<id>/<table>.parquet
    <store>/catalog.duckdb
    <store>/schema          which tables the runs have, and which views the catalog

A run is written beside the others and appears by one rename; it goes by one rename too. One more
partition holds every table without rows: it gives the schema to an empty store.
"""

import os
import re
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq

from ingest.errors import StoreError
from ingest.formats import FORMATS, Format, Source
from ingest.inputs import RunInput, read_run_input
from ingest.pipeline import AddOptions, write_run
from ingest.store.catalog import CATALOG, STAMP, catalog_digest, write_catalog
from ingest.store.locking import LOCK, PREFIX, cause, locked, sweep, sync, sync_names, workplace
from ingest.store.schema import EMPTY_PARTITION, check_tables, tables_digest, write_empty_run

DIGITS = (8, 16, 64)  # of an id; more only where runs of other content have the same


@dataclass(frozen=True)
class Added:
    """What became of one path: its run, whether that is new, and the files it was read from."""

    run_id: str
    is_new: bool
    seconds: float
    sources: list[Source]

    def as_dict(self, path: Path) -> dict[str, Any]:
        """The same as JSON can say it."""
        return {
            "path": str(path),
            "run_id": self.run_id,
            "is_new": self.is_new,
            "seconds": round(self.seconds, 3),
            "sources": [source.as_dict() for source in self.sources],
        }


class Store:
    """A store in `path`, created when there is none.

    Any number of processes may add, remove and read at once, and each may be killed at any time.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser().absolute()
        self.runs_path = self.path / "runs"
        exists, stamp = self._state()
        tables, _, catalog = stamp.partition(" ")
        if not exists:
            self._create()
            self._write_catalog()
            return
        if tables != tables_digest():
            check_tables(self.runs_path)
        elif catalog == catalog_digest(self.path):
            return
        with suppress(StoreError):  # moved, or this version has other views; to read needs neither
            self._write_catalog()

    def run_ids(self) -> list[str]:
        """The ids of all runs, sorted."""
        names = (path.name for path in self.runs_path.glob("run_id=*"))
        return sorted(name.removeprefix("run_id=") for name in names if name != EMPTY_PARTITION)

    def find(self, reference: str) -> str:
        """The run that `reference` names: an id, a unique beginning of one, or a run's name.

        Raises StoreError when no run or more than one fits.
        """
        return self._only(reference, self._named(reference) or self._begun(reference))

    def find_exactly(self, reference: str) -> str:
        """The same without beginnings of ids: for what cannot be undone."""
        named, begun = self._named(reference), self._begun(reference)
        if begun and not named:
            listed = ", ".join(begun[:5])
            raise StoreError(f"{reference}: not a run's whole id or name; did you mean {listed}?")
        return self._only(reference, named)

    def _named(self, reference: str) -> list[str]:
        ids = self.run_ids()
        if reference in ids:
            return [reference]
        return [run_id for run_id in ids if run_id.rpartition("-")[0] == slug(reference)]

    def _begun(self, reference: str) -> list[str]:
        return [i for i in self.run_ids() if reference and i.startswith(reference)]

    def _only(self, reference: str, candidates: list[str]) -> str:
        if not candidates:
            raise StoreError(f"{reference}: no such run in {self.path}; see `ingest list`")
        if len(candidates) > 1:
            listed = ", ".join(candidates[:5])
            raise StoreError(f"{reference}: {len(candidates)} runs fit: {listed}")
        return candidates[0]

    def add(
        self,
        path: str | Path,
        options: AddOptions | None = None,
        threads: int | None = None,
        progress: Callable[[int], None] | None = None,
        formats: Sequence[Format] = FORMATS,
    ) -> Added:
        """Ingests a run directory or file as a run.

        Each file is read as the first of the `formats` that recognises it. `progress` is called
        with the number of bytes of the files on disk that have been read so far. Raises
        ProfileError for input that cannot be read and StoreError where the store cannot be
        written; the store is then as it was.
        """
        began = time.perf_counter()
        options = options or AddOptions()
        with self._workplace() as place:
            run = read_run_input(Path(path), formats)
            if existing := self._with_content(run):
                return Added(existing, False, time.perf_counter() - began, [])
            directory = place / "run"
            directory.mkdir()
            template = self.runs_path / EMPTY_PARTITION
            name = write_run(run, options, directory, threads, progress, template)
            sync(directory)
            with locked(self.path):
                if existing := self._with_content(run):  # somebody else was faster
                    return Added(existing, False, time.perf_counter() - began, [])
                run_id = self._new_id(name, run.digest)
                directory.rename(self.runs_path / f"run_id={run_id}")
                sync_names(self.runs_path)
        return Added(run_id, True, time.perf_counter() - began, run.sources)

    def remove(self, run_id: str) -> None:
        """Removes a run, whole and at once. Raises StoreError when there is none."""
        with self._workplace() as place, locked(self.path):
            if run_id not in self.run_ids():
                raise StoreError(f"{run_id}: no such run in {self.path}")
            (self.runs_path / f"run_id={run_id}").rename(place / "removed")
            sync_names(self.runs_path)

    def sweep(self) -> None:
        """Removes what killed processes left behind; `add` and `remove` do so too."""
        sweep(self.path)

    def _with_content(self, run: RunInput) -> str | None:
        """The run that holds the same files. Digits of an id may agree by chance, checksums not."""
        for run_id in self.run_ids():
            if run.digest.startswith(run_id.rpartition("-")[2]):
                file = self.runs_path / f"run_id={run_id}" / "sources.parquet"
                with suppress(FileNotFoundError):  # removed by now
                    stored = pq.ParquetFile(file).read(["sha256"])["sha256"].to_pylist()
                    if sorted(stored) == run.checksums:
                        return run_id
        return None

    def _new_id(self, name: str, digest: str) -> str:
        taken = {run_id.rpartition("-")[2] for run_id in self.run_ids()}
        digits = next(count for count in DIGITS if digest[:count] not in taken)
        return f"{slug(name) or 'run'}-{digest[:digits]}"

    def _create(self) -> None:
        if any(sign in str(self.path) for sign in "[]*?="):
            raise StoreError(f"{self.path}: a store's path cannot hold any of [ ] * ? =")
        try:
            if self.path.exists() and not all(map(self._is_ours, self.path.iterdir())):
                raise StoreError(f"{self.path}: not a store, and not empty")
            self.runs_path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"{self.path}: cannot create a store: {error.strerror}") from error
        with self._workplace() as place:
            directory = place / "empty"
            write_empty_run(directory)
            sync(directory)
            partition = self.runs_path / EMPTY_PARTITION
            with locked(self.path):
                if not partition.is_dir():
                    directory.rename(partition)
                    sync_names(self.runs_path)
                    return
        check_tables(self.runs_path)  # somebody else's

    def _is_ours(self, entry: Path) -> bool:
        """Whether another process that creates this store may have made the entry."""
        if entry == self.runs_path:
            return all(run.name.startswith("run_id=") for run in entry.iterdir())
        return entry.name.startswith(PREFIX) or entry.name in (LOCK, CATALOG, STAMP)

    def _state(self) -> tuple[bool, str]:
        """Whether there is a store, and its stamp."""
        try:
            exists = (self.runs_path / EMPTY_PARTITION).is_dir()
            with suppress(FileNotFoundError, NotADirectoryError):
                return exists, (self.path / STAMP).read_text(errors="replace")
            return exists, ""
        except OSError as error:
            raise StoreError(f"{self.path}: cannot read: {error.strerror}") from error

    def _write_catalog(self) -> None:
        with self._workplace() as place:
            write_catalog(place / CATALOG, self.path)
            (place / STAMP).write_text(f"{tables_digest()} {catalog_digest(self.path)}")
            sync(place)
            with locked(self.path):  # the stamp of one is never beside the catalog of another
                for name in (CATALOG, STAMP):
                    os.replace(place / name, self.path / name)

    @contextmanager
    def _workplace(self) -> Iterator[Path]:
        """A directory of the store for work in progress; what fails there is the store's fault."""
        try:
            with workplace(self.path) as place:
                yield place
        except (OSError, duckdb.Error) as error:
            if why := cause(error, self.path):
                raise StoreError(f"{self.path}: cannot write: {why}") from error
            raise


def slug(name: str) -> str:
    """`name` as a part of a path: letters of any script, digits, dots and dashes; may be empty.

    Short enough, with what an id adds, for the name of a directory.
    """
    plain = re.sub(r"[^\w.]+", "-", unicodedata.normalize("NFC", name.lower())).strip("-.")
    return plain[:80].encode()[:160].decode(errors="ignore")


def default_store() -> Path:
    """The store of `TRACEHOUSE_STORE`, else `./store`."""
    return Path(os.environ.get("TRACEHOUSE_STORE") or "store")
