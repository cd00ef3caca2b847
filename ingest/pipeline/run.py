"""One run from its files to its Parquet tables: the whole way in, in one scratch database."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from ingest.errors import ProfileError
from ingest.formats import Source, SourceWarning, Staging
from ingest.inputs import (
    RunInput,
    device_name,
    stage_compilations,
    stage_ranks,
    started_at,
    world_size,
)
from ingest.pipeline.build import build, prepare
from ingest.pipeline.parquet import write_tables
from ingest.redaction import redact_paths, redact_secrets

MEMORY_LIMIT = "512MB"


@dataclass
class AddOptions:
    """The user's labels of a run, which override those in its files, and what to redact.

    Without `keep_metadata`, everything that looks like a secret is redacted, in the labels and in
    the run's files. With `redact_paths`, so are the paths of source files and of the run's files.
    """

    name: str | None = None
    model: str | None = None
    mode: str | None = None
    tags: dict[str, str] = field(default_factory=dict)
    keep_metadata: bool = False
    redact_paths: bool = False


def write_run(
    run: RunInput,
    options: AddOptions,
    directory: Path,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
    template: Path | None = None,
) -> str:
    """Writes `<table>.parquet` for each table into the existing, empty `directory`.

    Returns the run's name as the tables have it.

    `template` is a directory with the files of a run without rows, to copy those of empty tables.

    `progress` hears how many bytes of the files have been read so far. A trace that cannot be
    read becomes a source with status `failed`; ProfileError is raised when that leaves none.
    """
    scratch = directory.with_name(directory.name + ".scratch")
    config: dict[str, Any] = {
        "memory_limit": MEMORY_LIMIT,
        "preserve_insertion_order": False,
        "temp_directory": f"{scratch}.spill",
    }
    if threads:
        config["threads"] = threads
    with duckdb.connect(str(scratch), config=config) as connection:
        connection.execute("SET enable_progress_bar = false")
        prepare(connection)
        _stage(Staging(connection), run, progress)
        if options.redact_paths:
            redact_paths(connection)
        if run.sources:
            if options.redact_paths:
                run.make_paths_relative()
            _fill_files(connection, run.sources)
            _fill_run(connection, run, options)
            if not options.keep_metadata:
                redact_secrets(connection)
        empty = build(connection)
        _read_warnings(connection, run.sources)
        write_tables(connection, directory, empty, template)
        named = connection.execute("SELECT name FROM staged_run").fetchall()
    return str(named[0][0]) if named else ""


def _stage(staging: Staging, run: RunInput, progress: Callable[[int], None] | None) -> None:
    profiles = [(file, file.format) for file in run.sources if file.format and file.is_profile]
    failures: list[ProfileError] = []
    read_bytes = 0
    for source, format_ in profiles:
        began = time.perf_counter()
        try:
            format_.load(source, staging, partial(_report, progress, read_bytes))
            source.seconds = round(time.perf_counter() - began, 3)
        except ProfileError as error:
            failures.append(error)
            source.fail(str(error))
        read_bytes += source.bytes
    if failures and len(failures) == len(profiles):
        raise failures[0]
    for source, description in run.descriptions:
        stage_compilations(source.source_id, description, staging)
    stage_ranks(staging.connection, run.sources)


def _report(progress: Callable[[int], None] | None, before: int, position: int) -> None:
    if progress:
        progress(before + position)


def _read_warnings(connection: duckdb.DuckDBPyConnection, sources: list[Source]) -> None:
    """Gives the sources all their warnings: some are known only once all relations are there."""
    by_id = {source.source_id: source for source in sources}
    for source_id, codes, messages in connection.execute(
        "SELECT source_id, warning_codes, warnings FROM sources"
    ).fetchall():
        by_id[source_id].coded_warnings = list(map(SourceWarning, codes, messages))


def _fill_files(connection: duckdb.DuckDBPyConnection, sources: list[Source]) -> None:
    connection.executemany(
        "INSERT INTO staged_files VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, map($10::VARCHAR[], "
        "$11::BIGINT[]), map($12::VARCHAR[], $13::BIGINT[]), $14, $15, $16, $17)",
        [
            [
                source.source_id,
                str(source.path),
                source.kind,
                source.rank,
                source.bytes,
                source.json_bytes,
                source.sha256,
                source.events,
                source.complete,
                list(source.other),
                list(source.other.values()),
                list(source.dropped),
                list(source.dropped.values()),
                source.status,
                source.warnings,
                source.warning_codes,
                json.dumps(source.metadata),
            ]
            for source in sources
        ],
    )


def _fill_run(connection: duckdb.DuckDBPyConnection, run: RunInput, options: AddOptions) -> None:
    said = run.description
    metadata = [source.metadata for source in run.sources if source.metadata]
    ranks = len({source.rank for source in run.sources if source.is_profile})
    tags = {str(k): str(v) for k, v in (said.get("tags") or {}).items()} | options.tags
    connection.execute(
        "INSERT INTO staged_run VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, "
        "map($10::VARCHAR[], $11::VARCHAR[]), $12)",
        [
            options.name or run.name,
            options.model or said.get("model"),
            options.mode or said.get("mode"),
            said.get("framework", "pytorch"),
            said.get("framework_version"),
            said.get("device_name") or device_name(metadata),
            said.get("world_size") or world_size(metadata) or ranks,
            started_at(said),
            datetime.now(UTC).replace(tzinfo=None),
            list(tags),
            list(tags.values()),
            json.dumps(said),
        ],
    )
