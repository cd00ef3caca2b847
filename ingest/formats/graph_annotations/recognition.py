"""Recognition of annotations of graph nodes."""

import re

from ingest.formats.io import BLANK_START

START = re.compile(rb'\{\s*"graph_node_annotations"\s*:\s*\{')


def is_graph_annotations(head: bytes) -> bool:
    """Return whether a file with these first bytes has annotations of graph nodes."""
    return START.match(head.lstrip(BLANK_START)) is not None
