"""Recognition of execution traces."""

import re

from ingest.formats.io import BLANK_START

SCHEMA = re.compile(rb'\{\s*"schema"\s*:\s*"\d[^"]*"\s*,')
NODES = re.compile(rb'"nodes"\s*:\s*\[')


def is_execution_trace(head: bytes) -> bool:
    """Return whether a file with these first bytes is an execution trace.

    It begins with the version of its schema, and its nodes follow.
    """
    text = head.lstrip(BLANK_START)
    return bool(SCHEMA.match(text) and NODES.search(text))
