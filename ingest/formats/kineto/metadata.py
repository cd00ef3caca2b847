"""What the metadata of a trace says about its process: clock, rank, devices and conditions."""

import json

import duckdb

from ingest import sql
from ingest.formats.source import MAX_RANKS, Source

CLOCK = "baseTimeNanoseconds"
PROCESS = "distributedInfo"
HOST = "host_name"
# Damaged metadata is read for these, too.
USED_KEYS = (CLOCK, PROCESS, HOST, "deviceProperties", "schemaVersion")
LATEST_UNIX_NS = 3 * 10**18


def describe(connection: duckdb.DuckDBPyConnection, source: Source) -> None:
    """Set the attributes of a source that its metadata records, and stage its process groups.

    An invalid clock becomes 0, with a warning.
    """
    source.clock = _clock(source)
    recorded = source.metadata.get(PROCESS)
    process = recorded if isinstance(recorded, dict) else {}
    rank, size = process.get("rank"), process.get("world_size")
    if isinstance(rank, int) and 0 <= rank < MAX_RANKS:
        source.rank = int(rank)
    if isinstance(size, int) and 0 < size <= MAX_RANKS:
        source.world_size = int(size)
    host = source.metadata.get(HOST)
    source.host_name = host if isinstance(host, str) and host else None
    metadata = json.dumps(source.metadata)
    [(devices, source.conditions)] = connection.execute(
        "SELECT recorded_devices($1::JSON), recorded_conditions($1::JSON)", [metadata]
    ).fetchall()
    source.devices = devices or []
    if process:
        connection.execute(
            sql.query("fill_process_groups"),
            {"source_id": source.source_id, "metadata": metadata},
        )


def _clock(source: Source) -> int | None:
    if CLOCK not in source.metadata:
        return None
    try:
        clock = int(source.metadata[CLOCK])
    except (TypeError, ValueError, OverflowError):
        clock = -1
    if 0 <= clock <= LATEST_UNIX_NS:
        return clock
    source.warn(
        "base_time_invalid",
        f"{CLOCK} is not a valid Unix time, ignored: {str(source.metadata[CLOCK])[:40]}",
    )
    return 0
