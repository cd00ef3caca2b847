"""The input of a run: its directory, its files and their ranks, and its run.json."""

from ingest.inputs.directories import run_directories
from ingest.inputs.graph_captures import KIND as GRAPH_CAPTURE
from ingest.inputs.metadata import device_name, started_at, world_size
from ingest.inputs.objects import input_path, is_object, runs_at
from ingest.inputs.ranks import own_rank, stage_ranks
from ingest.inputs.run_input import RunInput, content_digest, read_run_input
from ingest.inputs.run_json import stage_compilations

__all__ = [
    "GRAPH_CAPTURE",
    "RunInput",
    "content_digest",
    "device_name",
    "input_path",
    "is_object",
    "own_rank",
    "read_run_input",
    "run_directories",
    "runs_at",
    "stage_compilations",
    "stage_ranks",
    "started_at",
    "world_size",
]
