"""Builders of small memory snapshots."""

import pickle
from pathlib import Path
from typing import Any

MIB = 1 << 20
BASE = 0x7F0000000000


class Snapshot:
    """A snapshot of a device with one segment. Each action is 1 ms after the previous one."""

    def __init__(self, reserved: int) -> None:
        self.reserved = reserved
        self.time_us = 1_700_000_000_000_000
        self.trace: list[dict[str, Any]] = []
        self.live: dict[int, tuple[int, str]] = {}
        self.annotations: list[dict[str, Any]] = []
        self.settings = {"expandable_segments": False}
        self._act("segment_alloc", BASE, reserved, "reserve")

    def _act(self, action: str, address: int | None, size: int, name: str, **more: Any) -> None:
        self.time_us += 1_000
        event = {"action": action, "size": size, "stream": 0, "time_us": self.time_us}
        event |= {"frames": frames(name)} | more
        self.trace.append(event if address is None else {**event, "addr": address})

    def alloc(self, offset: int, size: int, name: str) -> None:
        """Allocate in a function of this name."""
        self.live[BASE + offset] = size, name
        self._act("alloc", BASE + offset, size, name)

    def free(self, offset: int) -> None:
        """Free the allocation at this offset."""
        size, name = self.live.pop(BASE + offset)
        self._act("free_requested", BASE + offset, size, name)
        self._act("free_completed", BASE + offset, size, name)

    def annotate(self, name: str, stage: str) -> None:
        """Add the START or END of a named range."""
        mark = {"name": name, "stage": stage, "device": 0, "time_us": self.time_us + 1}
        self.annotations.append(mark)

    def out_of_memory(self, size: int, left: int, name: str) -> None:
        """Fail to allocate `size` bytes with `left` free bytes."""
        self._act("oom", None, size, name, device_free=left)

    def write(self, path: Path) -> Path:
        """Write the pickle in the form of torch. Return its path."""
        blocks, at = [], BASE
        for address, (size, name) in [*sorted(self.live.items()), (BASE + self.reserved, (0, ""))]:
            if address > at:
                blocks.append(block(at, address - at, "inactive", ""))
            if size:
                blocks.append(block(address, size, "active_allocated", name))
            at = address + size
        used = sum(size for size, _ in self.live.values())
        segment = {
            "device": 0,
            "stream": 0,
            "address": BASE,
            "total_size": self.reserved,
            "allocated_size": used,
            "active_size": used,
            "requested_size": used,
            "segment_type": "large",
            "segment_pool_id": (0, 0),
            "is_expandable": False,
            "frames": [],
            "blocks": blocks,
        }
        written = {
            "segments": [segment],
            "device_traces": [self.trace],
            "external_annotations": self.annotations,
            "allocator_settings": self.settings,
        }
        path.write_bytes(pickle.dumps(written, protocol=4))
        return path


def frames(name: str) -> list[dict[str, Any]]:
    """Return a stack whose innermost function has this name."""
    outer = {"name": "main", "filename": "train.py", "line": 99}
    return [{"name": name, "filename": "train.py", "line": 7}, outer]


def block(address: int, size: int, state: str, name: str) -> dict[str, Any]:
    """Return a block of a segment."""
    requested = size if state != "inactive" else 0
    described = {"address": address, "size": size, "requested_size": requested, "state": state}
    return {**described, "frames": frames(name) if name else []}


def leaking(steps: int, names: tuple[str, str, str]) -> Snapshot:
    """Build a snapshot whose steps leak 100 MiB each in the function `names[0]`.

    It ends with an out-of-memory error in `names[2]`.
    """
    made = Snapshot(2048 * MIB)
    for step in range(steps):
        made.annotate(f"ProfilerStep#{step}", "START")
        made.alloc(step * 100 * MIB, 100 * MIB, names[0])
        made.alloc(1024 * MIB, 300 * MIB, names[1])
        made.free(1024 * MIB)
        made.annotate(f"ProfilerStep#{step}", "END")
    made.alloc(1024 * MIB, 900 * MIB, names[1])
    made.out_of_memory(1500 * MIB, 700 * MIB, names[2])
    made.free(1024 * MIB)
    return made
