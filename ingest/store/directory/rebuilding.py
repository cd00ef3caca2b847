"""Rebuilding of runs from their original files: a new revision of the run."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from ingest import sql
from ingest.conversion import AddOptions
from ingest.errors import IngestError, StoreError
from ingest.store.directory.files.locking import sync, writing
from ingest.store.faults import DENIED
from ingest.store.manifest import Manifest, NewerError, read_manifest
from ingest.store.storage import RebuildOutcomes
from ingest.store.workers import Workers
from ingest.store.written import NewRun, Written, write_again

if TYPE_CHECKING:
    from ingest.store.directory.store import Store


def outdated(store: "Store") -> list[str]:
    """Return the ids of the runs that another version of tracehouse wrote, sorted."""
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
    store: "Store",
    run_id: str,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> None:
    """Build a run again from its original files. Its id and labels do not change.

    `progress` is called with the share of the work that is done, 0 to 1. Raise StoreError, with
    the reason, if the run cannot be rebuilt. The stored run is then unchanged.
    """
    manifests = {run_id: _manifest(store, run_id)}
    with writing(store.path) as work:
        written = write_again(run_id, work, threads, progress, manifests=manifests)
        _put(store, run_id, manifests[run_id], written, work)


def rebuild_from(
    store: "Store",
    chosen: Sequence[str],
    workers: Workers,
    progress: Callable[[str, float], None] | None,
) -> RebuildOutcomes:
    """Rebuild each run on other machines, as `Storage.rebuild_all` does."""
    manifests = {}
    for run_id in chosen:
        try:
            manifests[run_id] = _manifest(store, run_id)
        except StoreError as error:
            yield run_id, error
    writing_again = partial(write_again, manifests=manifests)
    for run_id, outcome in workers.write_all([*manifests], writing_again, progress):
        failure = outcome if isinstance(outcome, IngestError) else None
        if isinstance(outcome, NewRun):
            try:
                with writing(store.path) as work:
                    written = workers.fetch(outcome).unpacked(work)
                    _put(store, run_id, manifests[run_id], written, work)
            except IngestError as error:
                failure = error
            outcome.forget()
        yield run_id, failure


def _put(store: "Store", run_id: str, before: Manifest, written: Written, work: Path) -> None:
    """Put a new revision of a run into the store.

    Raise StoreError if its manifest is no longer `before`, because its labels changed.
    """
    sync(written.directory)
    with store.changing(work) as change:
        now = read_manifest(store.path / change.listed(run_id).directory)
        if before.logic_version and now and before.options != now.options:
            raise StoreError(f"{run_id}: its labels changed during the rebuild; try again")
        change.put(run_id, sql.schema_version(), written.directory, written.name, written.row)


def _manifest(store: "Store", run_id: str) -> Manifest:
    return read_manifest(store.run_path(run_id)) or _manifest_of_tables(store, run_id)


def _manifest_of_tables(store: "Store", run_id: str) -> Manifest:
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
