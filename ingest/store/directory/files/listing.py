"""The listing: the file that names the runs of a store, and where the files of each are.

    <store>/listing.json

A run is in the store if the listing names it. Replacing the listing, by one rename, is the only
step that adds, changes or removes a run. A lost listing is made again from the revisions
(revisions.py).
"""

import json
import os
from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ingest import sql
from ingest.errors import StoreError
from ingest.store.directory.files.places import RUNS
from ingest.store.faults import DENIED, Fault

LISTING = "listing.json"
FORMAT = 1


@dataclass(frozen=True)
class ListedRun:
    """A run in the listing.

    `directory` is the directory of its files, relative to the store. `content` is a digest of them.
    `tables` are the tables in which it has rows. `changed_ns` is the time when a file was last
    added to the directory or removed from it. Readers leave out a run with a `fault`.
    """

    run_id: str
    version: str
    directory: str
    content: str
    tables: tuple[str, ...]
    changed_ns: int
    name: str | None = None
    fault: Fault | None = None

    @property
    def is_copied_in(self) -> bool:
        """Whether the run's files are in place of its link."""
        return self.directory.startswith(f"{RUNS}/")


@dataclass(frozen=True)
class Listing:
    """The runs of a store by id, sorted."""

    runs: Mapping[str, ListedRun] = field(default_factory=dict)

    def with_runs(self, *runs: ListedRun) -> "Listing":
        """Return the listing with these runs, each in place of the run with its id."""
        merged = {**self.runs, **{run.run_id: run for run in runs}}
        return Listing(dict(sorted(merged.items())))

    def without(self, run_ids: Container[str]) -> "Listing":
        """Return the listing without these runs."""
        return Listing({key: run for key, run in self.runs.items() if key not in run_ids})

    def with_faults(self, faults: Mapping[str, Fault]) -> "Listing":
        """Return the listing with these faults of runs."""
        return self.with_runs(
            *(replace(self.runs[run_id], fault=fault) for run_id, fault in faults.items())
        )

    def denied(self) -> list[ListedRun]:
        """Return the runs that this process's user may not read."""
        return [run for run in self.runs.values() if run.fault and run.fault.code == DENIED]

    def for_all_users(self, before: "Listing | None") -> "Listing":
        """Return the listing to store: the runs that this user may not read stay as in `before`."""
        denied = {run.run_id for run in self.denied()}
        known = before.runs if before else {}
        return self.without(denied).with_runs(*(known[i] for i in denied if i in known))

    def has(self, directory: str) -> bool:
        """Return whether a run's files are in `directory`, relative to the store."""
        return any(run.directory == directory for run in self.runs.values())

    def readable(self) -> list[ListedRun]:
        """Return the runs without a fault."""
        return [run for run in self.runs.values() if not run.fault]

    def digest(self) -> str:
        """Return a digest of the runs that readers see, and of their files."""
        return sql.digest(f"{run.run_id} {run.content}" for run in self.readable())

    def write(self, file: Path) -> None:
        """Write the listing to a new file, and flush it to the disk."""
        sets: dict[tuple[str, ...], int] = {}  # most runs have rows in the same tables
        runs = [
            {**vars(run), "tables": sets.setdefault(run.tables, len(sets))}
            for run in self.runs.values()
        ]
        document = {"format": FORMAT, "tables": list(sets), "runs": runs}
        with file.open("w", encoding="utf-8") as opened:
            json.dump(document, opened, separators=(",", ":"))
            opened.flush()
            os.fsync(opened.fileno())


def read_listing(store: Path) -> Listing | None:
    """Return the listing of a store, or None if it is missing or damaged.

    Raise StoreError if a newer version of tracehouse wrote it, and OSError if it cannot be read.
    """
    try:
        document = json.loads((store / LISTING).read_bytes())
        if document["format"] > FORMAT:
            raise StoreError(f"{store}: a newer version of tracehouse wrote this store; install it")
        sets = [tuple(map(str, tables)) for tables in document["tables"]]
        runs = [ListedRun(**_fields(run, sets)) for run in document["runs"]]
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        return None
    return Listing({run.run_id: run for run in runs})


def _fields(run: dict[str, Any], sets: list[tuple[str, ...]]) -> dict[str, Any]:
    fault = run["fault"]
    return {
        **run,
        "tables": sets[run["tables"]],
        "fault": Fault(*fault) if fault else None,
    }
