"""From what allocators did, as recorded, to the tables of memory: SQL files, and a replay."""

import duckdb

from ingest import sql
from ingest.pipeline.replay import replay

BEFORE_REPLAY = ("memory_instants", "memory_devices")
AFTER_REPLAY = (
    "memory_starts",
    "stack_sites",
    "allocating_ops",
    "held_lives",
    "frames",
    "stacks",
    "memory_segments",
    "memory_blocks",
    "allocator_settings",
    "memory_annotations",
    "memory_steps",
    "memory_elements",
    "memory_events",
    "memory_held",
    "memory_peak",
    "memory_by_op",
)


def normalise_memory(connection: duckdb.DuckDBPyConnection) -> None:
    """Creates the tables and views of memory, once those of events and steps are there."""
    for name in BEFORE_REPLAY:
        connection.execute(sql.script(name))
    replay(connection)
    for name in AFTER_REPLAY:
        connection.execute(sql.script(name))
