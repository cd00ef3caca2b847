"""One run from its files to its Parquet tables: the whole way in, in one scratch database."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from ingest import sql
from ingest.errors import ProfileError
from ingest.formats import Source, Staging
from ingest.inputs import (
    RunInput,
    device_name,
    stage_compilations,
    stage_ranks,
    started_at,
    world_size,
)
from ingest.pipeline.compilation import normalise_compilation
from ingest.pipeline.memory import normalise_memory
from ingest.pipeline.nesting import nest
from ingest.pipeline.parquet import write_tables
from ingest.redaction import redact, redact_paths

MEMORY_LIMIT = "512MB"
BEFORE_NESTING = (
    "names",
    "overlapping",
    "complete",
    "other_events",
    "spans",
)
AFTER_NESTING = (
    "steps",
    "launches",
    "moments",
    "measured_steps",
    "launching_ops",
    "kernels",
    "event_steps",
    "outermost_ops",
    "op_places",
    "top_ops",
    "ops",
    "events",
    "islands",
    "device_islands",
    "device_time",
    "gaps",
    "gap_hosts",
    "bubbles",
    "host_activities",
    "measured_windows",
    "sources",
    "runs",
)
FAULTS = ("memory_faults", "compilation_faults")
AT_LAST = ("measured_compilations", "run_overview", "run_figures")


@dataclass
class RunLabels:
    """What the user says of a run; it goes before what the run says of itself.

    Without `keep_metadata`, what looks like a secret is redacted, here and in the run's files.
    With `redact_paths`, so is the place of source files, and of the run's own.
    """

    name: str | None = None
    model: str | None = None
    mode: str | None = None
    tags: dict[str, str] = field(default_factory=dict)
    keep_metadata: bool = False
    redact_paths: bool = False

    def without_secrets(self) -> "RunLabels":
        """The labels as they may be stored."""
        if self.keep_metadata:
            return self
        return replace(
            self, name=redact(self.name), model=redact(self.model), tags=redact(self.tags)
        )


def write_run(
    run: RunInput,
    labels: RunLabels,
    directory: Path,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Writes `<table>.parquet` for each table into the existing, empty `directory`.

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
        for name in (
            "staged",
            "staged_memory",
            "staged_compilation",
            "categories",
        ):
            connection.execute(sql.script(name))
        _stage(Staging(connection, labels.keep_metadata), run, progress)
        if labels.redact_paths:
            redact_paths(connection)
        _normalise(connection)
        if run.sources:
            _add_faults(connection, run.sources)
            if not labels.keep_metadata:
                _redact_descriptions(run)
            if labels.redact_paths:
                run.make_paths_relative()
            _fill_sources(connection, run.sources)
            _fill_runs(connection, run, labels)
        write_tables(connection, directory)


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


def _normalise(connection: duckdb.DuckDBPyConnection) -> None:
    """The steps from events as recorded to the tables, each one SQL file."""
    for name in BEFORE_NESTING:
        connection.execute(sql.script(name))
    nest(connection, "host_spans", "host_nest")
    nest(connection, "op_spans", "op_nest")
    for name in AFTER_NESTING:
        connection.execute(sql.script(name))
    normalise_memory(connection)
    normalise_compilation(connection)
    for name in AT_LAST:
        connection.execute(sql.script(name))


def _add_faults(connection: duckdb.DuckDBPyConnection, sources: list[Source]) -> None:
    """Warns of what is odd about the sources once all tables are there."""
    by_id = {source.source_id: source for source in sources}
    for name in FAULTS:
        for source_id, code, message in connection.execute(sql.script(name)).fetchall():
            by_id[source_id].warn(code, message)


def _redact_descriptions(run: RunInput) -> None:
    run.description = redact(run.description)
    for source in run.sources:
        source.metadata = redact(source.metadata)


def _fill_sources(connection: duckdb.DuckDBPyConnection, sources: list[Source]) -> None:
    connection.executemany(
        "INSERT INTO sources VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, map($10::VARCHAR[], "
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


def _fill_runs(connection: duckdb.DuckDBPyConnection, run: RunInput, labels: RunLabels) -> None:
    said = run.description
    metadata = [source.metadata for source in run.sources if source.metadata]
    ranks = len({source.rank for source in run.sources if source.is_profile})
    tags = {str(k): str(v) for k, v in (said.get("tags") or {}).items()} | labels.tags
    connection.execute(
        "INSERT INTO runs VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, "
        "map($10::VARCHAR[], $11::VARCHAR[]), $12)",
        [
            labels.name or run.name,
            labels.model or said.get("model"),
            labels.mode or said.get("mode"),
            said.get("framework", "pytorch"),
            said.get("framework_version"),
            said.get("device_name") or device_name(metadata),
            said.get("world_size") or world_size(metadata) or ranks,
            started_at(connection, said),
            datetime.now(UTC).replace(tzinfo=None),
            list(tags),
            list(tags.values()),
            json.dumps(said),
        ],
    )
