"""Recognising traces."""

import re

from ingest.formats.io import BLANK_START

EMPTY_ARRAY = re.compile(rb"\[\s*\]\s*$")
OBJECTS = re.compile(rb"\[\s*\{")
PHASE = re.compile(rb'"ph"\s*:\s*"')


def is_trace(head: bytes) -> bool:
    """Whether a file that begins so is a trace: an object with `traceEvents`, or an array.

    An array alone is one of events, or empty. Text that only quotes a trace does not begin as JSON.
    """
    text = head.lstrip(BLANK_START)
    if text.startswith(b"{"):
        return b'"traceEvents"' in text
    if OBJECTS.match(text):
        return bool(PHASE.search(text))
    return bool(EMPTY_ARRAY.match(text))
