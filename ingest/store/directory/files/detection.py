"""Detection of faults in the files of runs."""

from collections.abc import Iterable
from pathlib import Path

import pyarrow.parquet as pq

from ingest.store.directory.files.places import UNVERSIONED
from ingest.store.faults import CHANGED, DENIED, MISSING, SIZE, UNREADABLE, Fault
from ingest.store.manifest import NAME, files_of, size_and_sha256


def find_fault(
    directory: Path, version: str, tables: Iterable[str], thorough: bool = False
) -> Fault | None:
    """Return the first fault found in a run's files, or None.

    `tables` are the tables of the run's version. Runs from before there were versions have a file
    for each table, and no manifest. `thorough` also reads all files.
    """
    try:
        if version == UNVERSIONED:
            return _fault_without_manifest(directory, sorted(tables), thorough)
        return _fault(directory, thorough)
    except OSError as error:
        return fault_of(error)


def fault_of(error: OSError) -> Fault:
    """Return the fault of a run whose directory, or a file in it, cannot be read."""
    code = DENIED if isinstance(error, PermissionError) else UNREADABLE
    return Fault(code, Path(error.filename or "").name)


def _fault(directory: Path, thorough: bool) -> Fault | None:
    if (files := files_of(directory)) is None:
        if not (directory / NAME).exists():
            return Fault(MISSING, NAME)
        (directory / NAME).read_bytes()  # raises the system's error
        return Fault(UNREADABLE, NAME)
    for name, (size, digest) in files.items():
        try:
            if (directory / name).stat().st_size != size:
                return Fault(SIZE, name)
            if thorough and size_and_sha256(directory / name)[1] != digest:
                return Fault(CHANGED, name)
        except FileNotFoundError:
            return Fault(MISSING, name)
    return None


def _fault_without_manifest(directory: Path, tables: list[str], thorough: bool) -> Fault | None:
    for file in (directory / f"{table}.parquet" for table in tables):
        if not file.exists():
            return Fault(MISSING, file.name)
        if thorough and not is_readable(file):
            return Fault(UNREADABLE, file.name)
    return None


def is_readable(file: Path) -> bool:
    """Return whether all of a Parquet file can be read."""
    try:
        pq.read_table(file)
    except (OSError, ValueError):  # pyarrow's errors derive from these
        return False
    return True
