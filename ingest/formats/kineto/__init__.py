"""Traces as torch.profiler (Kineto) writes them, whole or damaged."""

from ingest.formats.kineto.load import load_trace
from ingest.formats.kineto.reader import is_trace

__all__ = ["is_trace", "load_trace"]
