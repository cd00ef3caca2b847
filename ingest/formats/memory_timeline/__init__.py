"""Memory timelines as `export_memory_timeline` writes them."""

from ingest.formats.memory_timeline.load import load_timeline
from ingest.formats.memory_timeline.reader import is_timeline

__all__ = ["is_timeline", "load_timeline"]
