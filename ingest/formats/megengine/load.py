"""Loading of MegEngine profiles into the scratch database."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import duckdb

from ingest import sql
from ingest.errors import ProfileError
from ingest.formats.megengine.sections import Sections, json_of, read_sections
from ingest.formats.source import Source
from ingest.formats.staging import Progress, Staging
from ingest.units import counted

BATCH = 5_000  # entries of a section
NEEDED = ("host", "device", "opr_footprint", "operator", "comp_seq", "var", "mem_chunk")
QUERIES = (
    "stage_megengine_times",
    "stage_megengine_comp_nodes",
    "stage_megengine_events",
    "stage_megengine_calls",
    "stage_megengine_activities",
)
NOT_COMPLETE = "time without a valid start and end"


def load(source: Source, staging: Staging, progress: Progress) -> None:
    """Read a profile into table `staged_megengine`, and its times into `staged`.

    `source.events` counts the times of operators, each on a thread or on a comp node. Raise
    ProfileError if no entry can be read.
    """
    with _no_garbage_collection():
        sections = _staged(source, staging, progress)
    for query in QUERIES:
        staging.connection.execute(sql.query(query), {"source_id": source.source_id})
    _count(staging.connection, source, sections)


def _staged(source: Source, staging: Staging, progress: Progress) -> Sections:
    """Read the sections into `staged_megengine`."""
    sections = read_sections(source.path, progress)
    source.json_bytes = sections.json_bytes
    if not any(sections.found.values()):
        if sections.unread or sections.fault:
            reason = sections.fault or counted(sections.unread.total(), "damaged piece")
            raise ProfileError(f"{source.path}: no operator can be read: {reason}")
        raise ProfileError(f"{source.path}: the profile has no operators")
    for name, entries in sections.found.items():
        sections.unread[name] += _stage(staging.connection, source.source_id, name, entries)
    sections.unread = +sections.unread  # without zeros
    return sections


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Disable garbage collection: JSON objects are not garbage, and it takes 2/3 of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _stage(connection: duckdb.DuckDBPyConnection, source_id: int, name: str, entries: Any) -> int:
    """Insert the entries of a section with their keys. Return how many nest too deeply."""
    keyed = iter(entries.items() if isinstance(entries, dict) else enumerate(entries))
    first = unread = 0
    while batch := list(islice(keyed, BATCH)):
        if (text := json_of(batch)) is None:
            readable = [entry for entry in batch if json_of(entry) is not None]
            unread += len(batch) - len(readable)
            text = json_of(readable)
        connection.execute(
            "INSERT INTO staged_megengine SELECT $1, $2, $3 + key::BIGINT, value ->> '$[0]', "
            "value -> '$[1]' FROM json_each($4)",
            [source_id, name, first, text],
        )
        first += len(batch)
    return unread


def _count(connection: duckdb.DuckDBPyConnection, source: Source, sections: Sections) -> None:
    """Count the entries that were read and those that were not, and warn of the latter."""
    [(complete, times, without)] = connection.execute(
        """
        SELECT count(side), count(*), (
            SELECT count(*) FROM staged_megengine
            WHERE
                source_id = $1
                AND section IN ('host', 'device')
                AND (json_type(value) <> 'OBJECT' OR len(json_keys(value)) = 0)
        )
        FROM staged WHERE source_id = $1
        """,
        [source.source_id],
    ).fetchall()
    source.dropped = {f"damaged piece of {name}": n for name, n in sections.unread.items()}
    if without:
        source.dropped["operator without times"] = without
        source.warn("times_missing", f"{counted(without, 'operator')} without times")
    source.events = times + sum(source.dropped.values())
    source.complete = complete
    if times > complete:
        source.other = {NOT_COMPLETE: times - complete}
        source.warn(
            "events_not_complete",
            f"{counted(times - complete, 'time')} kept in other_events only: {NOT_COMPLETE}",
        )
    for name, entries in sections.unread.items():
        source.warn(
            "entries_unread",
            f"{counted(entries, 'piece')} of section {name} could not be read",
        )
    if missing := [name for name in NEEDED if not sections.found.get(name)]:
        source.warn("sections_missing", f"missing or empty sections: {', '.join(missing)}")
    if sections.bytes_after:
        after = counted(sections.bytes_after, "character")
        source.warn("bytes_after_end", f"{after} after the end of the profile were not read")
    if sections.fault:
        source.status = "truncated"
        source.warn("truncated", sections.fault)
