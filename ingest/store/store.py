"""The store: a directory of immutable runs, each a directory of Parquet files.

    <store>/runs/<version>/run_id=<id>/<table>.parquet     and a manifest; no file without rows
    <store>/index.parquet      derived: what is asked of all runs
    <store>/catalog.duckdb     derived: the views
    <store>/schema             which views the catalog has

A run is written beside the others and appears by one rename; it goes by one rename too. The index
follows: opening the store brings it up to date. Adding or reading runs does so for the catalog.
"""

import os
import time
from collections.abc import Callable, Container, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq

from ingest import sql
from ingest.errors import StoreError
from ingest.formats import FORMATS, Format, Source
from ingest.inputs import RunInput, read_run_input
from ingest.pipeline import AddOptions, utc_now, write_run
from ingest.store import references
from ingest.store.catalog import CATALOG, STAMP, Catalog
from ingest.store.faults import OLD, Fault, find_fault
from ingest.store.index import INDEX, Entry, read_index
from ingest.store.indexing import write_index
from ingest.store.locking import LOCK, PREFIX, cause, locked, sweep, sync, sync_names, workplace
from ingest.store.manifest import Manifest, read_manifest
from ingest.store.places import (
    EMPTY,
    RUNS,
    places,
    run_directory,
    set_aside,
    version_directory,
    versions,
)
from ingest.store.tables import columns_of
from ingest.store.template import copy_empty, write_catalog
from ingest.units import as_utf8

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
            "path": as_utf8(str(path)),
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
        self._create()
        if any(self.path.glob(f"{PREFIX}*")):
            self.sweep()
        self.refresh()

    def refresh(self, suspects: Container[str] = ()) -> None:
        """Reads which runs there are, and brings the index of them up to date.

        All files of the runs `suspects` are read, to see whether they are intact. Where nothing can
        be written, the runs are read without what is derived.
        """
        with self._reading():
            self._places = places(self.path)
            known = read_index(self.path / INDEX)
        if self._is_current(known) and not suspects:
            self._entries = known or {}
        else:
            try:
                with self.workplace() as place, locked(self.path):
                    self._places = places(self.path)
                    self._entries = self._write_index(place, suspects=suspects)
                known = self._entries
            except StoreError:
                self._entries = {i: self._looked_at(i, i in suspects) for i in self._places}
        self.catalog = self._catalog(self._is_current(known))
        self.has_catalog = self._stamp() == self.catalog.digest()

    @property
    def state(self) -> str:
        """It differs where any run has come, gone or changed."""
        return sql.digest(f"{p.run_id} {p.version} {p.changed_ns}" for p in self._places.values())

    def run_ids(self) -> list[str]:
        """The ids of all runs, sorted; of those too that cannot be read."""
        with self._reading():
            return list(places(self.path))

    def faults(self) -> dict[str, Fault]:
        """The runs that cannot be read, with what is wrong with each."""
        return {run_id: entry.fault for run_id, entry in self._entries.items() if entry.fault}

    def find(self, reference: str) -> str:
        """The run that `reference` names: an id, a unique beginning of one, or a run's name.

        Raises StoreError when no run or more than one fits, or the run cannot be read.
        """
        run_id = references.find(self.path, self._names(), reference)
        if fault := self.faults().get(run_id):
            raise StoreError(f"{run_id}: {fault.text}")
        return run_id

    def find_exactly(self, reference: str) -> str:
        """The same without beginnings of ids, and of runs that cannot be read too."""
        return references.find_exactly(self.path, self._names(), reference)

    def run_path(self, run_id: str) -> Path:
        """The directory of a run. Raises StoreError when there is none."""
        with self._reading():
            if place := places(self.path).get(run_id):
                return place.directory
        raise StoreError(f"{run_id}: no such run in {self.path}")

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
        options = (options or AddOptions()).without_secrets()
        with self.workplace() as place, self._writing_catalog():
            run = read_run_input(Path(path), formats)
            if existing := self._with_content(run):
                return Added(existing, False, time.perf_counter() - began, [])
            directory, row = place / "run", place / "index_row.parquet"
            directory.mkdir()
            added_at = utc_now()
            name = write_run(run, options, directory, row, threads, progress, added_at)
            Manifest.of(run, options, directory, added_at).write(directory)
            sync(directory)
            with locked(self.path):
                if existing := self._with_content(run):  # somebody else was faster
                    return Added(existing, False, time.perf_counter() - began, [])
                run_id = self._new_id(name, run.digest)
                target = run_directory(self.path, run_id)
                directory.rename(target)
                sync_names(target.parent)
                self._write_index(place, {run_id: row})
        return Added(run_id, True, time.perf_counter() - began, run.sources)

    def remove(self, run_id: str) -> None:
        """Removes a run, whole and at once. Raises StoreError when there is none."""
        with self.workplace() as place, locked(self.path):
            directory = self.run_path(run_id)
            directory.rename(place / "removed")
            sync_names(directory.parent)
            self._write_index(place)

    def replace(
        self,
        place: Path,
        run_id: str,
        directory: Path,
        parent: Path | None = None,
        row: Path | None = None,
    ) -> None:
        """Puts a run that is written into workplace `place` where the run was.

        It goes to the runs of this version, or to directory `parent`. `row` is its row of the
        index. The caller holds the store's lock. Raises StoreError when there is no such run any
        more.
        """
        set_aside(self.path, self.run_path(run_id), place)
        target = run_directory(self.path, run_id)
        target = parent / target.name if parent else target
        directory.rename(target)
        sync_names(target.parent)
        self._write_index(place, {run_id: row} if row else None)

    def write_catalog(self) -> None:
        """Writes the file with the views anew, where the store can be written."""
        with suppress(StoreError, OSError, duckdb.Error), self.workplace() as place:
            write_catalog(place / CATALOG, self.catalog)
            (place / STAMP).write_text(self.catalog.digest())
            sync(place)
            with locked(self.path):  # the stamp of one is never beside the catalog of another
                for name in (CATALOG, STAMP):
                    os.replace(place / name, self.path / name)
            self.has_catalog = True

    def ensure_catalog(self) -> None:
        """Writes the file with the views where it is not that of the runs as they are."""
        if not self.has_catalog:  # another process may have written it since
            self.has_catalog = self._stamp() == self.catalog.digest()
        if not self.has_catalog and self.catalog.is_indexed:
            self.write_catalog()

    @contextmanager
    def _writing_catalog(self) -> Iterator[None]:
        """Writes a missing catalog in a thread meanwhile: defining all views can take 0.5 s."""
        with ThreadPoolExecutor(1) as pool:
            written = pool.submit(self.ensure_catalog)
            yield
            written.result()

    def drop_unused_versions(self) -> None:
        """Removes what is left of other versions of the tables that no run has any more."""
        with self.workplace() as place, locked(self.path):
            used = {run.version for run in places(self.path).values()} | {sql.schema_version()}
            for number, version in enumerate(set(versions(self.path)) - used):
                directory = version_directory(self.path, version)
                unused = directory if version else directory / EMPTY
                unused.rename(place / f"unused_{number}")

    def sweep(self) -> None:
        """Removes what killed processes left behind, which opening a store does too."""
        sweep(self.path)

    def _names(self) -> dict[str, str | None]:
        """The names of the runs, by id."""
        known = read_index(self.path / INDEX) or self._entries
        return {i: known[i].name if i in known else None for i in self.run_ids()}

    def _write_index(
        self, place: Path, new: dict[str, Path] | None = None, suspects: Container[str] = ()
    ) -> dict[str, Entry]:
        """Writes the index of the runs as they are now. The caller holds the store's lock."""
        entries = write_index(place / INDEX, self.path, places(self.path), new, suspects)
        os.replace(place / INDEX, self.path / INDEX)
        return entries

    def _with_content(self, run: RunInput) -> str | None:
        """The run that holds the same files. Digits of an id may agree by chance, checksums not."""
        for run_id, place in places(self.path).items():
            if run.digest.startswith(run_id.rpartition("-")[2]):
                if manifest := read_manifest(place.directory):
                    stored = manifest.checksums
                else:
                    stored = _checksums(place.directory)
                if stored == run.checksums:
                    return run_id
        return None

    def _new_id(self, name: str, digest: str) -> str:
        taken = {run_id.rpartition("-")[2] for run_id in self.run_ids()}
        digits = next(count for count in DIGITS if digest[:count] not in taken)
        return f"{references.slug(name) or 'run'}-{digest[:digits]}"

    def _is_current(self, known: dict[str, Entry] | None) -> bool:
        """Whether an index knows all runs as they are."""
        return (
            known is not None
            and known.keys() == self._places.keys()
            and all(known[run_id].is_of(place) for run_id, place in self._places.items())
        )

    def _looked_at(self, run_id: str, thorough: bool) -> Entry:
        """What the index would know of a run."""
        place = self._places[run_id]
        columns = columns_of(self.path, place.version)
        if columns is None:
            return Entry(place.version, place.changed_ns, Fault(OLD, ""))
        fault = find_fault(place, columns, thorough)
        return Entry(place.version, place.changed_ns, fault)

    def _catalog(self, is_indexed: bool) -> Catalog:
        read: dict[str, Any] = {}
        left_out: dict[str, list[str]] = {}
        present = {place.version for place in self._places.values()} | {sql.schema_version()}
        for version in sorted(present, key=lambda name: name != sql.schema_version()):
            if not version_directory(self.path, version).joinpath(EMPTY).is_dir():
                continue
            if (columns := columns_of(self.path, version)) is not None:
                read[version] = columns
                ids = [i for i in self.faults() if self._places[i].version == version]
                left_out |= {version: ids} if ids else {}
        return Catalog(self.path, read, left_out, is_indexed)

    def _create(self) -> None:
        """Makes what a store of this version has, where it is lacking."""
        empty = version_directory(self.path, sql.schema_version()) / EMPTY
        with self._reading():
            exists = (self.path / RUNS).is_dir()
            if _is_whole(empty):
                return
        if any(sign in str(self.path) for sign in "[]*?="):
            raise StoreError(f"{self.path}: a store's path cannot hold any of [ ] * ? =")
        try:
            if not exists and self.path.exists() and not all(map(_is_ours, self.path.iterdir())):
                raise StoreError(f"{self.path}: not a store, and not empty")
            empty.parent.mkdir(parents=True, exist_ok=True)
            with workplace(self.path) as place:
                copy_empty(place / "empty", place / INDEX)
                sync(place / "empty")
                with locked(self.path):
                    if not _is_whole(empty):
                        if empty.exists():
                            empty.rename(place / "damaged")
                        (place / "empty").rename(empty)
                        sync_names(empty.parent)
                    if not exists and not places(self.path):
                        os.replace(place / INDEX, self.path / INDEX)
        except (OSError, duckdb.Error, StoreError) as error:
            if exists:  # it can be read without
                return
            if isinstance(error, StoreError):
                raise
            why = error.strerror if isinstance(error, OSError) else error
            raise StoreError(f"{self.path}: cannot create a store: {why}") from error

    def _stamp(self) -> str:
        with suppress(OSError):
            return (self.path / STAMP).read_text(errors="replace")
        return ""

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(f"{self.path}: cannot read: {error.strerror}") from error

    @contextmanager
    def workplace(self) -> Iterator[Path]:
        """A directory of the store for work in progress; what fails there is the store's fault."""
        try:
            with workplace(self.path) as place:
                yield place
        except (OSError, duckdb.Error) as error:
            if why := cause(error, self.path):
                raise StoreError(f"{self.path}: cannot write: {why}") from error
            raise


def _is_whole(empty: Path) -> bool:
    """Whether a directory has a file for each table."""
    return all((empty / f"{table.name}.parquet").exists() for table in sql.tables())


def _is_ours(entry: Path) -> bool:
    """Whether another process that creates this store may have made the entry."""
    return entry.name.startswith(PREFIX) or entry.name in (RUNS, LOCK, CATALOG, STAMP, INDEX)


def _checksums(directory: Path) -> list[str]:
    """Those of the files that a run without a manifest was read from, sorted."""
    with suppress(OSError, ValueError):  # removed by now, or damaged
        stored = pq.ParquetFile(directory / "sources.parquet").read(["sha256"])
        return sorted(stored["sha256"].to_pylist())
    return []


def existing(path: str | Path) -> Store:
    """The store in `path`. Raises StoreError where there is none."""
    wanted = Path(path).expanduser()
    try:
        (wanted / RUNS).stat()
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(f"{wanted}: there is no store; `ingest add` makes one") from None
    except OSError:
        pass  # Store puts it in words
    return Store(wanted)


def default_store() -> Path:
    """The store of `TRACEHOUSE_STORE`, else `./store`."""
    return Path(os.environ.get("TRACEHOUSE_STORE") or "store")
