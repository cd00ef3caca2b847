"""Recognition of traces."""

import re

from ingest.formats.io import BLANK_START

EMPTY_ARRAY = re.compile(rb"\[\s*\]\s*$")
OBJECTS = re.compile(rb"\[\s*\{")
PHASE = re.compile(rb'"ph"\s*:\s*"')


def is_trace(head: bytes) -> bool:
    """Return whether a file with these first bytes is a trace.

    A trace is an object with the key `traceEvents`, an array of events, or an empty array. Text
    that only quotes a trace does not begin as JSON.
    """
    text = head.lstrip(BLANK_START)
    if text.startswith(b"{"):
        return b'"traceEvents"' in text
    if OBJECTS.match(text):
        return bool(PHASE.search(text))
    return bool(EMPTY_ARRAY.match(text))
