"""Builders of pickles from single instructions."""

import pickle

from tests.builders.snapshots import event, frame


def text(value: str) -> bytes:
    raw = value.encode()
    return b"\x8c" + bytes([len(raw)]) + raw


def events(inside: bytes) -> bytes:
    """Return the pickle of a snapshot with these bytes in the middle of its events."""
    trace = [event("alloc", i, i, frames=[frame(1)]) for i in range(50)]
    content = pickle.dumps({"device_traces": [trace]}, 4)
    position = content.index(b"}\x94(", len(content) // 2)
    return content[:position] + inside + content[position:]
