"""Editing of labels: a new revision of the run, whose other files are links to the same files."""

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from ingest import sql
from ingest.conversion import AddOptions
from ingest.errors import StoreError
from ingest.store.directory.files.locking import sync, writing
from ingest.store.directory.files.places import UNVERSIONED
from ingest.store.labels import Relabelling
from ingest.store.manifest import read_manifest, size_and_sha256

if TYPE_CHECKING:
    from ingest.store.directory.store import Store

LABELLED = ("runs.parquet", "run_overview.parquet")  # files with the labels of a run


def edit(store: "Store", run_id: str, changes: AddOptions) -> None:
    """Change the labels of a run, as `Storage.edit` does. The store is locked meanwhile."""
    if fault := store.faults().get(run_id):
        raise StoreError(f"{run_id}: {fault.text}")
    with writing(store.path) as work, store.changing(work) as change:
        listed = change.listed(run_id)
        if listed.fault:
            raise StoreError(f"{run_id}: {listed.fault.text}")
        directory = store.path / listed.directory
        manifest = read_manifest(directory)
        if not manifest and listed.version != UNVERSIONED:
            raise StoreError(f"{run_id}: its files changed meanwhile; try again")
        if changes.note is not None and not manifest:
            raise StoreError(
                f"{run_id}: written by a version of tracehouse without notes; run `ingest upgrade`"
            )
        relabelling = Relabelling(run_id, manifest.options if manifest else AddOptions(), changes)
        new = work / "run"
        new.mkdir()
        for file in directory.glob("*.parquet"):
            if file.name in LABELLED:
                _relabel(file, new / file.name, relabelling)
            else:
                _link(file, new / file.name)
        if manifest:
            files = {
                name: size_and_sha256(new / name) for name in LABELLED if name in manifest.files
            }
            replace(manifest, options=relabelling.options, files=manifest.files | files).write(new)
        sync(new)
        name = relabelling.labels.get("name", listed.name or "")
        change.put(run_id, listed.version, new, name, row=None)


def _relabel(file: Path, target: Path, relabelling: Relabelling) -> None:
    with duckdb.connect() as connection:
        read = f"FROM read_parquet({sql.literal(file)}, hive_partitioning = false)"
        columns = {row[0] for row in connection.execute(f"DESCRIBE {read}").fetchall()}
        changed = relabelling.expressions(columns).items()
        replaced = ", ".join(f"{expression} AS {name}" for name, expression in changed)
        connection.execute(
            f"COPY (SELECT * REPLACE ({replaced}) {read}) TO {sql.literal(target)} "
            "(FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2)"
        )


def _link(file: Path, target: Path) -> None:
    try:
        os.link(file, target)
    except OSError:  # the file system has no hard links
        shutil.copyfile(file, target)
