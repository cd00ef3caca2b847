"""Recognition of dumps of the flight recorder."""

import re

from ingest.formats.io import BLANK_START

# A key of the outermost object, which the dump of each backend has. `hccl_comm_state` is of Ascend.
KEY = rb"(?:version|entries|pg_config|pg_status|comm_lib_version|\w+_version|\w+_comm_state)"
# The first key of a pickled dict: of torch's own pickler, or of Python's.
PICKLE = re.compile(
    rb"\x80[\x02-\x05](?:\x95.{8})?\}(?:q.|\x94)?\((?:X....|\x8c.)" + KEY + rb"[qh\x94XU\x8c}]",
    re.DOTALL,
)
JSON = re.compile(rb'\{\s*"' + KEY + rb'"\s*:')
# Keys that no other file has. A dump without collectives has only the groups.
PROOF = re.compile(rb"\b(?:pg_config|pg_status|collective_seq_id|time_discovered_completed_ns)\b")
PROOF_IN_PICKLE = re.compile(rb"pg_config|pg_status|collective_seq_id|time_discovered_completed_ns")


def is_flight_recorder(head: bytes) -> bool:
    """Return whether a file with these first bytes is a dump of the flight recorder."""
    if head[:1] == b"\x80":
        return bool(PICKLE.match(head) and PROOF_IN_PICKLE.search(head))
    text = head.lstrip(BLANK_START)
    return bool(JSON.match(text) and PROOF.search(text))
