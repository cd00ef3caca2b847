"""Recognition of execution traces."""

import re

from ingest.formats.io import BLANK_START

SCHEMA = re.compile(rb'\{\s*"schema"\s*:\s*"\d')
NODES = re.compile(rb'"nodes"\s*:\s*\[')
OF_NODE = re.compile(rb'"(?:ctrl_deps|rf_id)"\s*:\s*\d|"name"\s*:\s*"rf_id"')


def is_execution_trace(head: bytes) -> bool:
    """Return whether a file with these first bytes is an execution trace.

    It has a list of nodes. Its first key is the version of its schema, or a node has a key of its
    own.
    """
    text = head.lstrip(BLANK_START)
    is_object_with_nodes = text.startswith(b"{") and NODES.search(text)
    return bool(is_object_with_nodes and (SCHEMA.match(text) or OF_NODE.search(text)))
