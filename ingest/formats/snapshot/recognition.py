"""Recognition of memory snapshots."""


def is_snapshot(head: bytes) -> bool:
    """Return whether a file with these first bytes is a pickle of protocol 2 or later."""
    return head[:1] == b"\x80"
