"""Pickles, instruction by instruction."""

import pickle

from tests.builders.snapshots import event, frame


def text(value: str) -> bytes:
    raw = value.encode()
    return b"\x8c" + bytes([len(raw)]) + raw


def events(inside: bytes) -> bytes:
    """A snapshot with this in the midst of its events."""
    whole = [event("alloc", i, i, frames=[frame(1)]) for i in range(50)]
    content = pickle.dumps({"device_traces": [whole]}, 4)
    place = content.index(b"}\x94(", len(content) // 2)
    return content[:place] + inside + content[place:]
