"""Recognising memory snapshots."""


def is_snapshot(head: bytes) -> bool:
    """Whether a file that begins so may be a memory snapshot: a pickle of protocol 2 or later."""
    return head[:1] == b"\x80"
