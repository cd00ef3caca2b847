"""CUDA memory snapshots: pickles that are read without running any code in them."""

from ingest.formats.snapshot.load import load_snapshot
from ingest.formats.snapshot.pickle.stream import max_snapshot_bytes
from ingest.formats.snapshot.reader import is_snapshot

__all__ = ["is_snapshot", "load_snapshot", "max_snapshot_bytes"]
