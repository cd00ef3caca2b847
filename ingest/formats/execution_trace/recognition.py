"""Recognition of execution traces."""

import re

from ingest.formats.io import BLANK_START

SCHEMA = re.compile(rb'\{\s*"schema"\s*:\s*"\d')
NODES = re.compile(rb'"nodes"\s*:\s*\[\s*(\{|\])')
OF_NODE = re.compile(rb'"(?:ctrl_deps|rf_id)"\s*[:,]')


def is_execution_trace(head: bytes) -> bool:
    """Return whether a file with these first bytes is an execution trace.

    It has a list of nodes. Its first key is the version of its schema, or a node has a key of its
    own.
    """
    text = head.lstrip(BLANK_START)
    if not text.startswith(b"{") or b'"traceEvents"' in text or not NODES.search(text):
        return False
    return bool(SCHEMA.match(text) or OF_NODE.search(text))
