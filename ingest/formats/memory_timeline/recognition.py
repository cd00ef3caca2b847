"""Recognition of memory timelines."""

import re

from ingest.formats.io import BLANK_START

FIRST_ROW = re.compile(rb"\[\s*\[\s*-?\d+\s*,")


def is_timeline(head: bytes) -> bool:
    """Return whether a file with these first bytes is a memory timeline: lists of integers."""
    return bool(FIRST_ROW.match(head.lstrip(BLANK_START)))
