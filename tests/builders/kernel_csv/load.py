"""Loading of kernels as CSV into the staged tables."""

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from ingest.formats import Progress, Source, Staging

EVENTS = """
    $source_id AS source_id,
    id_in_run($source_id, ordinal) AS event_id,
    'X' AS phase,
    side,
    if(side = 'device', 'kernel', 'cuda_runtime') AS category,
    name,
    'a process' AS pid,
    if(side = 'host', place, NULL) AS tid,
    start_ns AS relative_ns,
    dur_ns,
    correlation,
    -- What has no column, also if it has no value.
    if(side = 'device', '{"owner": null}', NULL) AS args
"""
ACTIVITIES = """
    $source_id AS source_id,
    id_in_run($source_id, ordinal) AS event_id,
    split_part(place, ':', 1)::BIGINT AS device,
    split_part(place, ':', 2)::BIGINT AS stream,
    CASE WHEN grid <> '' THEN string_split(grid, 'x')::BIGINT[] END AS grid,
    registers
"""
COUNTERS = """
    $source_id AS source_id,
    split_part(place, ':', 1)::BIGINT AS device,
    'multiprocessors' AS track,
    'busy, %' AS counter,
    start_ns AS relative_ns,
    busy_percent AS value
"""


def load(source: Source, staging: Staging, progress: Progress) -> None:
    """Read host calls and kernels, and a counter with its value at the start of each kernel."""
    rows = csv.read_csv(source.path)
    rows = rows.append_column("ordinal", pa.array(range(rows.num_rows)))
    source.clock, source.rank, source.world_size = 1_700_000_000_000_000_000, 0, 1
    source.devices = [
        {
            "number": 0,
            "name": "Toy 1",
            "memory_bytes": 8 << 30,
            "multiprocessors": 16,
            "capability": None,
        }
    ]
    source.conditions = {"driver": "1.0"}
    number = str(source.source_id)
    staging.insert("staged", rows, EVENTS.replace("$source_id", number))
    kernels = rows.filter(pc.equal(rows["side"], "device"))
    staging.insert("staged_activities", kernels, ACTIVITIES.replace("$source_id", number))
    staging.insert("staged_counters", kernels, COUNTERS.replace("$source_id", number))
    source.events = source.complete = rows.num_rows
    progress(source.bytes or 0)
