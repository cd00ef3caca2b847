"""All relations on runs that need no samples: recordings in this repository, and small files."""

from pathlib import Path

import ingest
from ingest import sql

# What these runs do not have.
EMPTY = {
    "annotation_breakdown",
    "calibrations",
    "counted_kernels",
    "counters",
    "cupti_counters",
    "device_peaks",
    "execution_trace_nodes",
    "flight_dumps",
    "flight_groups",
    "flight_mismatches",
    "exposed_transfers",
    "flight_positions",
    "flight_records",
    "graph_breaks",
    "graph_nodes",
    "hang_ranks",
    "hangs",
    "kernel_fusions",
    "leaks",
    "megengine_layers",
    "memory_annotations",
    "rank_divergence",
    "slow_ops",
    "stage_calls",
    "stage_efficiency",
    "stage_parts",
    "stage_parts_of_calls",
    "stage_summary",
    "stages",
    "straggler_causes",
    "sweep_results",
    "sweep_variants",
    "unfused_attentions",
    "waits",
}


def test_every_relation_can_be_read_and_has_rows(recorded_store: Path) -> None:
    empty = set()
    with ingest.connect(recorded_store) as connection:
        for file in sql.relations():
            if not file.macro:
                # The hash needs the values of all columns.
                query = f"SELECT count(hash(rows)) FROM (FROM {file.name}) AS rows"
                if connection.execute(query).fetchall() == [(0,)]:
                    empty.add(file.name)
    assert empty == EMPTY
