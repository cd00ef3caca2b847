"""Changes to stored runs: editing of labels, and rebuilding from the original files.

A change writes a new revision of the run. A reader sees either the old one or the new one.
"""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import duckdb

from ingest import sql
from ingest.conversion import AddOptions
from ingest.errors import StoreError
from ingest.store.changes.written import read_original, write
from ingest.store.connection import AnyStore
from ingest.store.files.faults import DENIED
from ingest.store.files.locking import sync, writing
from ingest.store.files.manifest import Manifest, NewerError, read_manifest, size_and_sha256
from ingest.store.files.places import UNVERSIONED
from ingest.store.labels import Relabelling
from ingest.store.lake.lake import Lake
from ingest.store.store import Store

LABELLED = ("runs.parquet", "run_overview.parquet")  # files with the labels of a run


def edit(store: AnyStore, run_id: str, changes: AddOptions) -> None:
    """Change the labels of a run. Its id does not change.

    An empty model, mode or note removes that label, and a tag that is None removes the tag. Secrets
    in labels are redacted. Concurrent edits are not lost, because the store is locked from reading
    the labels to writing them. Raise StoreError if there is no such run, if it cannot be read, or
    if its name would be empty.
    """
    if isinstance(store, Lake):
        store.edit(run_id, changes)
        return
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


def outdated(store: AnyStore) -> list[str]:
    """Return the ids of the runs that another version of tracehouse wrote, sorted."""
    if isinstance(store, Lake):
        return store.outdated()
    ours = (sql.schema_version(), sql.logic_version())
    found = []
    denied = {run_id for run_id, fault in store.faults().items() if fault.code == DENIED}
    for run_id in sorted(set(store.run_ids()) - denied):
        try:
            manifest = read_manifest(store.run_path(run_id))
        except NewerError:
            continue
        if not manifest or (manifest.schema_version, manifest.logic_version) != ours:
            found.append(run_id)
    return found


def rebuild(
    store: Store,
    run_id: str,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Build a run again from its original files. Its id and labels do not change.

    `progress` is called with the number of bytes read so far. Raise StoreError, with the reason, if
    the run cannot be rebuilt. The stored run is then unchanged.
    """
    stored = read_manifest(store.run_path(run_id))
    manifest = stored or _manifest_of_tables(store, run_id)
    run = read_original(run_id, manifest)
    with writing(store.path) as work:
        added_at = datetime.fromisoformat(manifest.added_at)
        written = write(run, manifest.options, work, threads, progress, added_at)
        sync(written.directory)
        with store.changing(work) as change:
            now = read_manifest(store.path / change.listed(run_id).directory)
            if stored and now and stored.options != now.options:
                raise StoreError(f"{run_id}: its labels changed during the rebuild; try again")
            change.put(run_id, sql.schema_version(), written.directory, written.name, written.row)


def _manifest_of_tables(store: Store, run_id: str) -> Manifest:
    """Reconstruct the manifest of a run from its tables. Early versions wrote no manifest."""
    directory = store.run_path(run_id)
    files = [directory / f"{table}.parquet" for table in ("sources", "runs")]
    try:
        with duckdb.connect() as connection:
            sources, labels = (
                connection.execute(query, [str(file)]).fetchall()
                for query, file in zip(
                    (
                        "SELECT DISTINCT path, sha256 FROM read_parquet($1) "
                        "WHERE sha256 IS NOT NULL ORDER BY path",
                        "SELECT name, model, mode, tags, ingested_at FROM read_parquet($1)",
                    ),
                    files,
                    strict=True,
                )
            )
    except duckdb.Error as error:
        raise StoreError(f"{run_id}: cannot read the path of its original files") from error
    [(name, model, mode, tags, added_at)] = labels
    paths = [Path(path) for path, _ in sources]
    path = paths[0] if len(paths) == 1 else paths[0].parent
    bases = (Path.cwd(), store.path.parent, store.path)
    existing = [base / path for base in bases if (base / path).exists()]
    return Manifest(
        "",
        "",
        str(existing[0] if existing else path),
        sorted(sha256 for _, sha256 in sources),
        AddOptions(name, model, mode, tags),
        added_at.isoformat(),
    )
