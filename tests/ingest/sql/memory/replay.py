"""A replay of memory snapshots in plain Python, like MemoryViz's: the reference for the SQL."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Replay:
    """The allocations of a device in a snapshot, and its memory curve after each action."""

    start_bytes: int = 0
    curve: list[int] = field(default_factory=list)
    reserved: list[int] = field(default_factory=list)
    allocations: Counter[tuple[Any, ...]] = field(default_factory=Counter)

    @property
    def peak(self) -> tuple[int, int]:
        """The highest value, and the first action that reaches it; -1 is the start."""
        values = [self.start_bytes, *self.curve]
        return max(values), values.index(max(values)) - 1


def replay(snapshot: dict[str, Any], device: int = 0) -> Replay:
    """Replay a device; allocations are (origin, address, bytes, ordinals of alloc and free)."""
    trace = snapshot["device_traces"][device]
    found = Replay()
    live: dict[int, tuple[int, int | None]] = {}  # address: bytes, ordinal
    done: list[tuple[Any, ...]] = []
    changes = [0] * len(trace)
    skip = -1
    for ordinal, event in enumerate(trace):
        action, address = event["action"], event.get("addr")
        if ordinal == skip:
            continue
        if action == "alloc":
            if address in live:  # no free in between: the first allocation stays
                done.append(("traced", address, *live[address], None))
            live[address] = event["size"], ordinal
            changes[ordinal] = event["size"]
            continue
        following = trace[ordinal + 1] if ordinal + 1 < len(trace) else {}
        if action == "free_requested":
            if (following.get("action"), following.get("addr")) != ("free_completed", address):
                continue
            skip = ordinal + 1
        elif action != "free_completed":
            continue
        if address in live:
            size, allocated = live.pop(address)
            done.append(("traced", address, size, allocated, ordinal))
        else:
            size = event["size"]
            found.start_bytes += size
            done.append(("before_trace", address, size, None, ordinal))
        changes[ordinal] = -size
    done += [("traced", address, *life, None) for address, life in live.items()]
    for segment in snapshot["segments"]:
        address = segment["address"]
        for block in segment["blocks"]:
            at = block.get("address", address)
            address += block["size"]
            if segment["device"] != device or block["state"] == "inactive" or at in live:
                continue  # MemoryViz omits blocks with a pending free, although they are in use
            size = block.get("requested_size", block["size"])
            found.start_bytes += size
            done.append(("snapshot_only", at, size, None, None))
    total = found.start_bytes
    for change in changes:
        total += change
        found.curve.append(total)
    found.allocations = Counter(done)
    found.reserved = _reserved(snapshot, device)
    return found


def _reserved(snapshot: dict[str, Any], device: int) -> list[int]:
    signs = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}
    changes = [
        signs.get(event["action"], 0) * event["size"] for event in snapshot["device_traces"][device]
    ]
    held = sum(s["total_size"] for s in snapshot["segments"] if s["device"] == device)
    total = held - sum(changes)
    reserved = []
    for change in changes:
        total += change
        reserved.append(total)
    return reserved
