"""Changes of runs that are in the store: labels, and building a run again from its files.

Each replaces the run's directory by another: a reader sees the one or the other, and between two
renames, for an instant, neither.
"""

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import duckdb

from ingest import sql
from ingest.errors import ProfileError, StoreError
from ingest.inputs import read_run_input
from ingest.pipeline import AddOptions, write_run
from ingest.store.locking import locked, sync
from ingest.store.manifest import NAME, Manifest, measured, read_manifest
from ingest.store.store import Store

LABELS = ("name", "model", "mode", "note")
LABELLED = ("runs.parquet", "run_overview.parquet")  # files with the labels of a run


def edit(store: Store, run_id: str, changes: AddOptions) -> None:
    """Changes the labels of a run; its id stays.

    An empty model, mode or note takes the label away, and so does a tag that is None. Secrets in
    labels are redacted. Of two edits at the same time none is lost: the store is locked from
    reading the labels to writing them. Raises StoreError where there is no such run, it cannot be
    read, or its name would be empty.
    """
    if changes.name == "":
        raise StoreError(f"{run_id}: a run's name cannot be empty")
    if fault := store.faults().get(run_id):
        raise StoreError(f"{run_id}: {fault.text}")
    with store.workplace() as place, locked(store.path):
        directory = store.run_path(run_id)
        manifest = read_manifest(directory)
        if changes.note is not None and not manifest:
            raise StoreError(f"{run_id}: runs of its version have no note; see `ingest upgrade`")
        before = manifest.options if manifest else AddOptions()
        changes = replace(changes, keep_metadata=before.keep_metadata).without_secrets()
        given = {name: getattr(changes, name) for name in LABELS}
        labels = {name: value for name, value in given.items() if value is not None}
        made = place / "run"
        made.mkdir()
        for file in directory.iterdir():
            if file.name in LABELLED:
                _relabel(file, made / file.name, labels, changes.tags)
            elif file.name != NAME:
                _link(file, made / file.name)
        if manifest:
            options = replace(before, **labels, tags=before.tags | changes.tags)
            files = {name: measured(made / name) for name in LABELLED if name in manifest.files}
            replace(manifest, options=options, files=manifest.files | files).write(made)
        sync(made)
        store.replace(place, run_id, made, directory.parent)


def _relabel(
    file: Path, target: Path, labels: Mapping[str, str], tags: Mapping[str, str | None]
) -> None:
    with duckdb.connect() as connection:
        read = f"FROM read_parquet({sql.literal(file)}, hive_partitioning = false)"
        columns = {row[0] for row in connection.execute(f"DESCRIBE {read}").fetchall()}
        [(before,)] = connection.execute(f"SELECT tags {read}").fetchall()
        after = {key: value for key, value in {**before, **tags}.items() if value is not None}
        changed = [
            f"nullif({sql.literal(value)}, '') AS {column}"
            for column, value in labels.items()
            if column in columns
        ]
        changed.append("map($1::VARCHAR[], $2::VARCHAR[]) AS tags")
        connection.execute(
            f"COPY (SELECT * REPLACE ({', '.join(changed)}) {read}) TO {sql.literal(target)} "
            "(FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2)",
            [list(after), list(after.values())],
        )


def _link(file: Path, target: Path) -> None:
    try:
        os.link(file, target)
    except OSError:  # a file system without links
        shutil.copyfile(file, target)


def outdated(store: Store) -> list[str]:
    """The runs that another version of tracehouse wrote, sorted."""
    ours = (sql.schema_version(), sql.logic_version())
    found = []
    for run_id in store.run_ids():
        manifest = read_manifest(store.run_path(run_id))
        if not manifest or (manifest.schema_version, manifest.logic_version) != ours:
            found.append(run_id)
    return found


def rebuild(
    store: Store,
    run_id: str,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Builds a run again from the files that it was read from; its id and labels stay.

    Raises StoreError where that is not possible, and says why; the run is then as it was.
    """
    stored = read_manifest(store.run_path(run_id))
    manifest = stored or _told_by_tables(store, run_id)
    if not manifest.path:
        raise StoreError(f"{run_id}: where its files lie was redacted: add them again")
    try:
        run = read_run_input(Path(manifest.path))
    except ProfileError as error:
        raise StoreError(f"{run_id}: its files cannot be read: {error}") from error
    if run.checksums != manifest.checksums:
        raise StoreError(f"{run_id}: {manifest.path} holds other files than it was read from")
    with store.workplace() as place:
        made, row = place / "run", place / "index_row.parquet"
        made.mkdir()
        options, added_at = manifest.options, datetime.fromisoformat(manifest.added_at)
        write_run(run, options, made, row, threads, progress, added_at)
        Manifest.of(run, options, made, added_at).write(made)
        sync(made)
        with locked(store.path):
            now = read_manifest(store.run_path(run_id))
            if stored and now and stored.options != now.options:
                raise StoreError(f"{run_id}: its labels changed meanwhile: build it again")
            store.replace(place, run_id, made, row=row)


def _told_by_tables(store: Store, run_id: str) -> Manifest:
    """What a manifest would say of a run that has none: versions before wrote none."""
    directory = store.run_path(run_id)
    files = [directory / f"{table}.parquet" for table in ("sources", "runs")]
    try:
        with duckdb.connect() as connection:
            sources, labels = (
                connection.execute(f"SELECT {columns} FROM {sql.literal(file)}").fetchall()
                for columns, file in zip(
                    ("path, sha256", "name, model, mode, tags, ingested_at"), files, strict=True
                )
            )
    except duckdb.Error as error:
        raise StoreError(f"{run_id}: its tables do not say where its files lie") from error
    [(name, model, mode, tags, added_at)] = labels
    paths = [Path(path) for path, _ in sources]
    path = paths[0] if len(paths) == 1 else paths[0].parent
    bases = (Path.cwd(), store.path.parent, store.path)
    there = [base / path for base in bases if (base / path).exists()]
    return Manifest(
        "",
        "",
        str(there[0] if there else path),
        sorted(sha256 for _, sha256 in sources),
        AddOptions(name, model, mode, tags),
        added_at.isoformat(),
    )
