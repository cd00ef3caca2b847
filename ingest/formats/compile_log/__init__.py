"""Torch's structured compile logs (`TORCH_TRACE`): what was compiled, and why."""

from ingest.formats.compile_log.load import load_compile_log
from ingest.formats.compile_log.reader import is_compile_log

__all__ = ["is_compile_log", "load_compile_log"]
