"""Recognising memory timelines."""

import re

from ingest.formats.io import BLANK_START

FIRST_ROW = re.compile(rb"\[\s*\[\s*-?\d+\s*,")


def is_timeline(head: bytes) -> bool:
    """Whether a file that begins so is a memory timeline: rows that begin with integers."""
    return bool(FIRST_ROW.match(head.lstrip(BLANK_START)))
