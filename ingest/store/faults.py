"""Faults of stored runs, and the messages about them."""

from collections.abc import Mapping
from typing import NamedTuple

from ingest.store.manifest import NAME
from ingest.store.place import FORBIDDEN

OLD = "old"
MISSING = "missing"
SIZE = "size"
CHANGED = "checksum"
UNREADABLE = "unreadable"
DENIED = "denied"
BAD_NAME = "name"
TEXTS = {
    MISSING: "{file} is missing",
    SIZE: "{file} has changed in size",
    CHANGED: "{file} has changed since it was written",
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
    def reason(self) -> str:
        """The fault, with its file."""
        unnamed = "its files" if self.code == DENIED else "a file"
        return TEXTS[self.code].format(file=self.file or unnamed)

    @property
    def text(self) -> str:
        """The fault, with its file and what to do about it."""
        if self.code == DENIED:
            return f"{self.reason}; ask the owner"
        command = "ingest upgrade" if self.code == OLD else "ingest check --repair"
        return f"{self.reason}; run `{command}`"

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
