"""Recognition of MegEngine profiles."""

import re

from ingest.formats.io import BLANK_START

SECTION = re.compile(rb'\{\s*"(?:profiler|graph_exec)"\s*:\s*\{')
INNER = re.compile(
    rb'"(?:host|device|opr_footprint|opr_internal_pf|comp_seq|mem_chunk|operator|var)"\s*:\s*[\[{]'
)


def is_megengine(head: bytes) -> bool:
    """Return whether a file with these first bytes is a profile of MegEngine.

    It begins with one of the objects `profiler` and `graph_exec`.
    """
    text = head.lstrip(BLANK_START)
    is_both = b'"profiler"' in text and b'"graph_exec"' in text
    return bool(SECTION.match(text) and (is_both or INNER.search(text)))
