"""Recognising execution traces."""

import re

from ingest.formats.io import BLANK_START

SCHEMA = re.compile(rb'\{\s*"schema"\s*:\s*"\d[^"]*"\s*,')
NODES = re.compile(rb'"nodes"\s*:\s*\[')


def is_execution_trace(head: bytes) -> bool:
    """Whether a file that begins so is an execution trace: its schema's version, then nodes."""
    text = head.lstrip(BLANK_START)
    return bool(SCHEMA.match(text) and NODES.search(text))
