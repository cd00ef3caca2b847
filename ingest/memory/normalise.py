"""From what allocators did, as recorded, to the tables of memory: SQL files, and a replay."""

import duckdb

from ingest import sql
from ingest.memory.replay import replay

BEFORE_REPLAY = ("load/memory_instants", "load/memory_devices")
AFTER_REPLAY = (
    "load/memory_starts",
    "load/stack_sites",
    "load/allocating_ops",
    "load/held_lives",
    "tables/frames",
    "tables/stacks",
    "tables/memory_segments",
    "tables/memory_blocks",
    "tables/allocator_settings",
    "tables/memory_annotations",
    "tables/memory_steps",
    "tables/memory_elements",
    "tables/memory_events",
    "tables/memory_held",
    "tables/memory_peak",
    "tables/memory_by_op",
)


def normalise_memory(connection: duckdb.DuckDBPyConnection) -> None:
    """Creates the tables and views of memory, once those of events and steps are there."""
    for name in BEFORE_REPLAY:
        connection.execute(sql.script(name))
    replay(connection)
    for name in AFTER_REPLAY:
        connection.execute(sql.script(name))
