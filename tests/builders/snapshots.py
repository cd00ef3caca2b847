"""Memory snapshots in the form of torch."""

import random
from typing import Any

GIB, MIB = 1 << 30, 1 << 20
BASE = 1 << 40  # an address
FIRST_US = 1_700_000_000_000_000

Row = dict[str, Any]


def stack(*names: str) -> list[dict[str, Any]]:
    """Return frames, innermost first, of functions in the user's model.py."""
    return [{"name": name, "filename": "/work/model.py", "line": 7} for name in names]


def snapshot(*devices: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """Return a snapshot with one segment of 1 GiB per device, which exists from the start.

    Actions are `alloc` and `free` (with an offset `addr`), or `oom`, one microsecond apart.
    """
    segments, traces = [], []
    for device, actions in enumerate(devices):
        trace: list[dict[str, Any]] = []
        live: dict[int, dict[str, Any]] = {}
        for index, action in enumerate(actions):
            event = {"stream": 0, "time_us": FIRST_US + index, "frames": [], **action}
            if "addr" in event:
                event["addr"] += BASE
            if event["action"] == "free":
                live.pop(event["addr"])
                trace += [
                    {**event, "action": f"free_{what}"} for what in ("requested", "completed")
                ]
                continue
            if event["action"] == "alloc":
                live[event["addr"]] = event
            trace.append(event)
        blocks, at = [], BASE
        for address, event in sorted(live.items()):
            blocks.append(_block(at, address - at, 0, []))
            blocks.append(_block(address, event["size"], event["size"], event["frames"]))
            at = address + event["size"]
        blocks.append(_block(at, BASE + GIB - at, 0, []))
        active = sum(event["size"] for event in live.values())
        segment = {
            "device": device,
            "address": BASE,
            "total_size": GIB,
            "allocated_size": active,
            "active_size": active,
            "requested_size": active,
            "stream": 0,
            "segment_type": "large",
            "segment_pool_id": (0, 0),
            "is_expandable": False,
            "frames": [],
            "blocks": [block for block in blocks if block["size"]],
        }
        segments.append(segment)
        traces.append(trace)
    return {"segments": segments, "device_traces": traces, "allocator_settings": {}, **more}


def _block(address: int, size: int, requested: int, frames: list[Any]) -> dict[str, Any]:
    state = "active_allocated" if requested else "inactive"
    return {
        "address": address,
        "size": size,
        "requested_size": requested,
        "state": state,
        "frames": frames,
    }


def frame(line: int = 1, **more: Any) -> Row:
    return {"name": f"f{line}", "filename": "/x/train.py", "line": line, **more}


def block(address: int, size: int = 512, state: str = "active_allocated") -> Row:
    return {
        "address": address, "size": size, "requested_size": size - 1, "state": state,
        "frames": [frame(3)],
    }  # fmt: skip


def segment(address: int, blocks: list[Row], **more: Any) -> Row:
    size = sum(row["size"] for row in blocks)
    return {
        "device": 0, "address": address, "total_size": size, "allocated_size": size,
        "active_size": size, "requested_size": size, "stream": 0, "segment_type": "large",
        "segment_pool_id": (0, 0), "is_expandable": False, "frames": [], "blocks": blocks, **more,
    }  # fmt: skip


def event(action: str, address: int, size: int, **more: Any) -> Row:
    return {"action": action, "addr": address, "size": size, "stream": 0, **more}


def odd() -> dict[str, Any]:
    """Return a snapshot with everything that seldom occurs."""
    frames = [frame(1), frame(2**64 - 1), frame(0, fx_node_op="call", fx_n=[1, None, 0.5])]
    high = 2**63 + 4096
    trace = [
        event("alloc", high, 100, frames=frames, forward_frames=[frame(7)], pool_id=(0, 1)),
        event("free_requested", high, 100, frames=[], pool_id=[2, 0], category="ACTIVATION"),
        {"action": "oom", "size": 1 << 40, "stream": 0, "device_free": 123, "frames": frames},
        event("segment_map", high, 1 << 21, time_us=1_700_000_000_000_000),
        event("segment_unmap", high, 1 << 21),
        event("snapshot", 0, 2**62),
        event("brand_new", 5, -1, novel={"a": [1, (2, True)]}, other=None),
        event("alloc", 2**64 - 1, 0, compile_context="x" * 300, user_metadata="é\u2028"),
    ]
    blocks = [block(high), block(high + 512, state="active_pending_free")]
    return {
        "segments": [
            segment(high, blocks, is_expandable=True, segment_pool_id=[1, 2]),
            segment(1 << 40, [], frames=frames),
        ],
        "device_traces": [[], trace, [dict(trace[3])]],
        "allocator_settings": {"a": True, "b": {"c": {"d": 0.5}, "e": ""}, "f": [1, 2], "g": None},
        "external_annotations": [{"name": "s", "stage": "END", "device": 1, "time_us": 5}],
        "unheard_of": {"x": 1},
    }


def many(seed: int, count: int, devices: int = 2) -> dict[str, Any]:
    """Return a long trace of many layouts, with new, shared, empty and absent lists of frames."""
    draw = random.Random(seed)
    frames = [frame(line) for line in range(300)]
    stacks = [draw.sample(frames, draw.randint(1, 40)) for _ in range(60)] + [[], frames[:1]]
    pools = [(0, 0), (0, 1)]
    layouts = draw.sample(range(64), 6)
    traces: list[list[Row]] = []
    for _ in range(devices):
        trace: list[Row] = []
        layout = layouts[0]
        last: list[Row] = []
        while len(trace) < count:
            if draw.random() < 0.05:
                layout = draw.choice(layouts)
            action = draw.choice(["alloc", "free_requested", "free_completed", "segment_alloc"])
            address = draw.choice([draw.randrange(2**47), draw.randrange(200), 2**62])
            row = event(action, address, draw.choice([0, 255, 256, 65_535, 65_536, 1 << 33, -1]))
            if layout & 1:
                row["time_us"] = 1_700_000_000_000_000 + len(trace)
            if layout & 2:  # equal strings that are separate objects
                row["compile_context"] = "".join(["N", "/A"])
            if layout & 4:
                row["user_metadata"] = draw.choice(["", "step", str(len(trace)), "é" * 200])
            if layout & 8:
                row["pool_id"] = draw.choice([(0, draw.randrange(3)), pools[0], (1 << 20, 5)])
            if layout & 16:
                last = draw.choice([last, list(draw.choice(stacks)), list(draw.choice(stacks))])
                row["frames"] = last
            if layout & 32:
                row["forward_frames"] = list(draw.choice(stacks))
            if draw.random() < 0.003:
                row = draw.choice(
                    [
                        {"action": "oom", "size": 5, "stream": 0, "device_free": 9},
                        {**row, "novel": [1, {"a": "b"}]},
                        {**row, "addr": 2**63 + 5},
                        {**row, "frames": [frame(draw.randrange(10**6))]},
                    ]
                )
            trace.append(row)
        traces.append(trace)
    return {"segments": [], "device_traces": traces}
