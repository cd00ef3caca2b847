"""Faults of stored runs: their detection, and the messages about them."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

from ingest.store.files.manifest import NAME, files_of, size_and_sha256
from ingest.store.files.places import FORBIDDEN, UNVERSIONED

OLD = "old"
MISSING = "missing"
SIZE = "size"
UNREADABLE = "unreadable"
DENIED = "denied"
BAD_NAME = "name"
TEXTS = {
    MISSING: "{file} is missing",
    SIZE: "{file} has changed in size",
    "checksum": "{file} has changed since it was written",
    UNREADABLE: "{file} cannot be read",
    DENIED: "this user may not read {file}",
    BAD_NAME: f"the name of its directory is not UTF-8, or contains any of {' '.join(FORBIDDEN)}",
    OLD: "written by a version of tracehouse with other columns",
}
MAX_LISTED = 5


class Fault(NamedTuple):
    """The reason why a run cannot be read: a code of `TEXTS`, and the name of the file."""

    code: str
    file: str

    @property
    def text(self) -> str:
        """The fault, with its file and what to do about it."""
        if self.code == DENIED:
            return f"{TEXTS[DENIED].format(file=self.file or 'its files')}; ask the owner"
        command = "ingest upgrade" if self.code == OLD else "ingest check --repair"
        return f"{TEXTS[self.code].format(file=self.file or 'a file')}; run `{command}`"

    @property
    def is_seen_at_once(self) -> bool:
        """Whether the fault is seen without reading the tables."""
        return self.code in (MISSING, SIZE, DENIED) or self.file == NAME


class StoreWarning(UserWarning):
    """A warning that runs of a store are left out."""


def fault_lines(faults: Mapping[str, Fault]) -> list[str]:
    """Return a line for each damaged run, and one line for all runs of unreadable versions."""
    old = [run_id for run_id, fault in faults.items() if fault.code == OLD]
    damaged = [run_id for run_id in faults if run_id not in old]
    lines = [f"run {i} is left out: {faults[i].text}" for i in damaged[:MAX_LISTED]]
    if more := damaged[MAX_LISTED:]:
        lines.append(f"{len(more)} more runs are left out; `ingest check` lists them")
    if old:
        listed = ", ".join(old[:MAX_LISTED])
        rest = f" and {len(old) - MAX_LISTED} more" if len(old) > MAX_LISTED else ""
        noun = "run" if len(old) == 1 else "runs"
        verb = "is" if len(old) == 1 else "are"
        lines.append(f"{noun} {listed}{rest} {verb} left out: {faults[old[0]].text}")
    return lines


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
                return Fault("checksum", name)
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
