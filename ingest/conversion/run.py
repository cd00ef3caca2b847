"""Conversion of a run's files to Parquet tables, in a scratch database."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import duckdb

from ingest import sql
from ingest.conversion.build import build
from ingest.conversion.containment import AgainError, without_bad_files
from ingest.conversion.parquet import write_tables
from ingest.conversion.scratch import open_scratch
from ingest.conversion.stage import stage_files
from ingest.formats import Source, SourceWarning
from ingest.inputs import (
    RunInput,
    device_name,
    started_at,
    world_size,
)
from ingest.redaction import redact, redact_paths, redact_secrets
from ingest.units import as_utf8

MEMORY_LIMIT = "512MB"
# The parts of the work, as shares of the time that most runs take. Writing is the rest.
READING, BUILDING = 0.3, 0.55
READERS = 8  # small files at a time, which share the memory
WORKERS = 2  # statements at a time, because planning a statement keeps one processor busy
SMALL_BYTES = 4 << 20  # of files on disk; the tables of larger ones are written one at a time


@dataclass
class AddOptions:
    """The user's labels for a run, which override those in its run.json, and what to redact.

    An empty model, mode or note, and a tag that is None, removes the one in run.json.
    `keep_metadata`: keep everything that looks like a secret, which is otherwise redacted in the
    labels and in the run's files. `redact_paths`: redact the paths of source files and of the
    run's files. `capture_traces`: absolute paths of traces of captures of CUDA graphs that are not
    in the run's directory.
    """

    name: str | None = None
    model: str | None = None
    mode: str | None = None
    tags: dict[str, str | None] = field(default_factory=dict)
    keep_metadata: bool = False
    redact_paths: bool = False
    note: str | None = None
    capture_traces: Sequence[str] = ()

    def without_secrets(self) -> "AddOptions":
        """Return the options with secrets redacted, unless `keep_metadata` is true."""
        if self.keep_metadata:
            return self
        return replace(self, **redact(vars(self)))


def write_run(
    run: RunInput,
    options: AddOptions,
    directory: Path,
    index_row: Path | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
    added_at: datetime | None = None,
) -> str:
    """Write `<table>.parquet` for each table with rows into the existing, empty `directory`.

    Return the run's name in the tables.

    `index_row`: file for the run's row of the store's index, without its id. `progress`: called
    with the share of the work that is done, 0 to 1. `added_at`: when the run was added, UTC; None
    means now.

    A file that cannot be loaded becomes a source with status `failed`. Raise ProfileError if no
    profile can be loaded.
    """
    processors = threads or os.cpu_count() or 1
    workers = min(processors, WORKERS)
    readers = min(processors, READERS)
    writers = workers if run.bytes <= SMALL_BYTES else 1
    config: dict[str, Any] = {"memory_limit": MEMORY_LIMIT, "preserve_insertion_order": False}
    if threads:
        config["threads"] = threads
    attempts = count()

    def part(begin: float, share: float) -> Callable[[float], None]:
        return lambda done: progress(begin + share * done) if progress else None

    def write(run: RunInput) -> str:
        nonlocal readers
        for file in directory.iterdir():  # of an attempt that failed
            file.unlink()
        scratch = directory.with_name(f"{directory.name}.scratch{next(attempts) or ''}")
        spill = f"{scratch}.spill"
        with open_scratch(scratch, temp_directory=spill, **config) as connection:
            try:
                reading = part(0, READING)
                stage_run(connection, run, options, added_at or utc_now(), reading, readers)
            except AgainError:
                readers = 1
                raise
            empty = build(connection, workers, progress=part(READING, BUILDING))
            _read_warnings(connection, run.sources)
            written = READING + BUILDING
            write_tables(
                connection, directory, empty, index_row, writers, part(written, 1 - written)
            )
            named = connection.execute("SELECT name FROM staged_run").fetchall()
        return str(named[0][0]) if named else ""

    return without_bad_files(run, write)


def stage_run(
    connection: duckdb.DuckDBPyConnection,
    run: RunInput,
    options: AddOptions,
    added_at: datetime,
    progress: Callable[[float], None] | None = None,
    readers: int = 1,
) -> None:
    """Fill the staged tables of a scratch database from the files of a run.

    Secrets and paths are redacted as `options` say. Files with the status `failed` are not read.
    `readers` and exceptions are those of `stage_files`. The other arguments are those of
    `write_run`.
    """
    stage_files(connection, run, readers, progress)
    if options.redact_paths:
        redact_paths(connection)
    if not run.sources:
        return
    if options.redact_paths:
        run.make_paths_relative()
    else:
        run.make_paths_absolute()
    _fill_files(connection, run.sources)
    _fill_run(connection, run, options, added_at)
    if not options.keep_metadata:
        redact_secrets(connection)


def utc_now() -> datetime:
    """Return the current time, UTC, without a time zone, as DuckDB expects it."""
    return datetime.now(UTC).replace(tzinfo=None)


def _read_warnings(connection: duckdb.DuckDBPyConnection, sources: list[Source]) -> None:
    """Set the warnings of the sources. Some are known only after all relations were created."""
    by_id = {source.source_id: source for source in sources}
    for source_id, codes, messages in connection.execute(
        "SELECT source_id, warning_codes, warnings FROM sources"
    ).fetchall():
        by_id[source_id].coded_warnings = list(map(SourceWarning, codes, messages))


def _fill_files(connection: duckdb.DuckDBPyConnection, sources: list[Source]) -> None:
    connection.executemany(
        "INSERT INTO staged_files VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, "
        "map($11::VARCHAR[], $12::BIGINT[]), map($13::VARCHAR[], $14::BIGINT[]), $15, $16, $17, "
        "$18, $19, map($20::VARCHAR[], $21::VARCHAR[]))",
        [
            [
                source.source_id,
                source.path_text,
                source.kind,
                source.rank,
                source.cycle,
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
                source.devices,
                list(source.conditions),
                list(source.conditions.values()),
            ]
            for source in sources
        ],
    )


def _fill_run(
    connection: duckdb.DuckDBPyConnection, run: RunInput, options: AddOptions, added_at: datetime
) -> None:
    description = run.description
    ranks = len({source.rank for source in run.sources if source.is_profile})
    tags: dict[str, str | None] = {
        str(k): str(v) for k, v in (description.get("tags") or {}).items()
    }
    tags = {key: value for key, value in (tags | options.tags).items() if value is not None}
    connection.execute(
        "INSERT INTO staged_run VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, "
        "map($10::VARCHAR[], $11::VARCHAR[]), $12, $13, $14, $15, $16)",
        [
            options.name or run.name,
            _label(options.model, description.get("model")),
            _label(options.mode, description.get("mode")),
            description.get("framework") or _framework(run.sources),
            description.get("framework_version"),
            description.get("device_name") or device_name(run.sources),
            description.get("world_size") or world_size(run.sources) or ranks,
            started_at(description),
            added_at,
            list(tags),
            list(tags.values()),
            options.note or None,
            None if options.redact_paths else as_utf8(str(run.path.absolute())),
            sql.schema_version(),
            sql.logic_version(),
            json.dumps(description),
        ],
    )


def _framework(sources: list[Source]) -> str:
    """Return the names of the frameworks that wrote the profiles."""
    names = {
        source.framework or source.format.framework
        for source in sources
        if source.is_profile and source.format
    }
    return ", ".join(sorted(names))


def _label(option: str | None, recorded: str | None) -> str | None:
    """Return the user's label, or the recorded one if it is None; None if it is empty."""
    return recorded if option is None else option or None
