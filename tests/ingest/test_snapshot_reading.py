"""Memory snapshots: what the reader gives is what Python's own unpickler gives."""

import gzip
import io
import json
import pickle
import random
from pathlib import Path
from typing import Any

import pytest

import ingest.formats.snapshot.reader as snapshot_module
from ingest.formats.snapshot.pickle.bulk_reader import EventLane
from ingest.formats.snapshot.pickle.handover import Run
from ingest.formats.snapshot.reader import MemorySnapshot
from ingest.formats.snapshot.schemas import EVENT_SCHEMA
from ingest.formats.snapshot.stacks import Stacks

SNAPSHOTS = [
    "cpp_pickler_protocol2",
    "fragmented_no_history",
    "full_history_annotations",
    "inconsistent_synthetic",
    "private_pools_no_history",
    "state_only",
    "torch20_block_history",
    "train_ctx128",
    "train_ctx512",
    "trimmed",
]
PLAIN_EVENT = {
    "action": "action", "addr": "address", "size": "bytes", "stream": "stream",
    "time_us": "time_us", "device_free": "device_free_bytes", "compile_context": "compile_context",
    "user_metadata": "user_metadata", "category": "category",
}  # fmt: skip
SEGMENT = {
    "device": "device", "address": "address", "total_size": "bytes",
    "allocated_size": "allocated_bytes", "active_size": "active_bytes",
    "requested_size": "requested_bytes", "stream": "stream", "segment_type": "kind",
    "is_expandable": "is_expandable",
}  # fmt: skip

Row = dict[str, Any]


class Read:
    """What the reader makes of a file: rows, with stacks written out."""

    def __init__(self, path: Path) -> None:
        stacks = Stacks()
        snapshot = MemorySnapshot(path, stacks)
        batches = list(snapshot.events())
        assert all(batch.schema == EVENT_SCHEMA for batch in batches)
        frames = stacks.frames_table().to_pylist()
        listed = stacks.stacks_table().to_pylist()
        self.frames, self.stacks = len(frames), len(listed)
        assert [frame.pop("frame_id") for frame in frames] == list(range(len(frames)))
        self._stacks = {
            row["stack_id"]: tuple(tuple(frames[number].values()) for number in row["frame_ids"])
            for row in listed
        }
        self.events = self._rows(row for batch in batches for row in batch.to_pylist())
        self.segments = self._rows(snapshot.segments.to_pylist())
        self.blocks = self._rows(snapshot.blocks.to_pylist())
        self.annotations = snapshot.annotations.to_pylist()
        self.settings = {row["setting"]: row["value"] for row in snapshot.settings.to_pylist()}
        self.warnings = [said.message for said in snapshot.warnings]
        self.pickle_bytes = snapshot.pickle_bytes

    def _rows(self, rows: Any) -> list[Row]:
        rows = list(rows)
        for row in rows:
            for key in ("stack_id", "forward_stack_id"):
                if row.get(key) is not None:
                    row[key] = self._stacks[row[key]]
        return rows


def stack(frames: Any) -> Any:
    """A stack written out; the frames of the tests' files have no other keys unless said."""
    known = ("name", "filename", "line")
    rows = []
    for frame in frames or ():
        other = {key: value for key, value in frame.items() if key not in known}
        line = frame.get("line")
        rows.append(
            (
                frame.get("name"),
                frame.get("filename"),
                None if line == 2**64 - 1 else line,
                json.dumps(other) if other else None,
            )
        )
    return tuple(rows) or None


def pool(ids: Any) -> str | None:
    return None if ids is None else str(tuple(ids))


def walked(content: bytes) -> dict[str, Any]:
    """The same by Python's unpickler, a row at a time."""
    snapshot = pickle.loads(content)
    if isinstance(snapshot, list):
        snapshot = {"segments": snapshot}
    events: list[Row] = []
    for device, trace in enumerate(snapshot.get("device_traces", [])):
        for ordinal, event in enumerate(trace):
            row = dict.fromkeys(EVENT_SCHEMA.names)
            other = {}
            for key, value in event.items():
                if key in PLAIN_EVENT:
                    row[PLAIN_EVENT[key]] = value
                elif key not in ("frames", "forward_frames", "pool_id"):
                    other[key] = value
            row.update(device=device, ordinal=ordinal, pool=pool(event.get("pool_id")))
            row["stack_id"] = stack(event.get("frames"))
            row["forward_stack_id"] = stack(event.get("forward_frames"))
            row["other"] = json.dumps(other) if other else None
            events.append(row)
    segments, blocks = [], []
    for number, segment in enumerate(snapshot["segments"]):
        row = {name: segment.get(key) for key, name in SEGMENT.items()}
        row |= {"segment_id": number, "pool": pool(segment.get("segment_pool_id"))}
        segments.append({**row, "stack_id": stack(segment.get("frames"))})
        address = segment["address"]
        for block in segment["blocks"]:
            history = block.get("history") or [{}]
            blocks.append(
                {
                    "segment_id": number,
                    "device": segment.get("device"),
                    "address": block.get("address", address),
                    "bytes": block["size"],
                    "requested_bytes": block.get("requested_size"),
                    "state": block["state"],
                    "stack_id": stack(block.get("frames", history[0].get("frames"))),
                }
            )
            address += block["size"]
    annotations = [
        {key: row.get(key) for key in ("device", "name", "stage", "time_us")}
        for row in snapshot.get("external_annotations", [])
    ]
    past = sum(
        len(row.get("history") or [0]) - 1
        for part in snapshot["segments"]
        for row in part["blocks"]
    )
    warnings = [f"{past:,} earlier allocations in the blocks' history: not read"] if past else []
    if "unheard_of" in snapshot:
        warnings.append("the snapshot has keys that are not read: unheard_of (1 value)")
    return {
        "events": events,
        "segments": segments,
        "blocks": blocks,
        "annotations": annotations,
        "settings": set(snapshot.get("allocator_settings", {})),
        "warnings": warnings,
    }


def compare(path: Path, content: bytes) -> Read:
    read, expected = Read(path), walked(content)
    assert read.events == expected["events"]
    assert read.segments == expected["segments"]
    assert read.blocks == expected["blocks"]
    assert read.annotations == expected["annotations"]
    assert {name.partition(".")[0] for name in read.settings} == expected["settings"]
    assert read.warnings == expected["warnings"]
    assert read.pickle_bytes == len(content)
    return read


def written(path: Path, snapshot: Any, protocol: int = 4) -> Path:
    path.write_bytes(pickle.dumps(snapshot, protocol))
    return path


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


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_samples_read_as_python_reads_them(name: str, samples: Path) -> None:
    path = samples / "snapshots" / f"{name}.pickle"
    compare(path, path.read_bytes())


def test_stacks_are_held_once(samples: Path) -> None:
    read = Read(samples / "snapshots" / "train_ctx512.pickle")
    assert (read.stacks, read.frames) == (188, 538)
    assert len(read.events) == 22_332
    assert read.settings["roundup_power2_divisions.1"] == "0"
    assert read.settings["max_split_size"] == "-1"
    assert read.settings["expandable_segments"] == "false"


def test_a_run_of_several_snapshots_shares_stacks(samples: Path) -> None:
    stacks = Stacks()
    for _ in range(2):
        for _ in MemorySnapshot(samples / "snapshots" / "train_ctx512.pickle", stacks).events():
            pass
        assert (stacks.stacks_table().num_rows, stacks.frames_table().num_rows) == (188, 538)


def odd() -> dict[str, Any]:
    """What seldom occurs, all at once."""
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


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_what_seldom_occurs(protocol: int, tmp_path: Path) -> None:
    path = written(tmp_path / "s.pickle", odd(), protocol)
    read = compare(path, path.read_bytes())
    assert read.events[0]["address"] == 2**63 + 4096
    assert [frame[2] for frame in read.events[0]["stack_id"]] == [1, None, 0]
    assert [row["pool"] for row in read.events[:3]] == ["(0, 1)", "(2, 0)", None]
    assert read.events[2]["device_free_bytes"] == 123
    assert read.events[2]["address"] is None
    assert json.loads(read.events[6]["other"]) == {"novel": {"a": [1, [2, True]]}, "other": None}
    assert read.settings == {
        "a": "true", "b.c.d": "0.5", "b.e": "", "f": "[1, 2]", "g": None,
    }  # fmt: skip


@pytest.mark.parametrize("order", [-1, 1])
def test_the_order_of_sections_and_gzip(order: int, tmp_path: Path) -> None:
    snapshot = dict(list(odd().items())[::order])
    content = pickle.dumps(snapshot, 4)
    path = tmp_path / "s.pickle.gz"
    path.write_bytes(gzip.compress(content))
    compare(path, content)


def test_a_bare_list_is_segments_alone(tmp_path: Path) -> None:
    path = written(tmp_path / "s.pickle", odd()["segments"])
    read = compare(path, path.read_bytes())
    assert (len(read.events), len(read.segments), len(read.blocks)) == (0, 2, 2)


def test_torch_2_0_blocks_have_neither_address_nor_frames(tmp_path: Path) -> None:
    history = [{"addr": 7, "real_size": 3, "frames": [frame(9)]}]
    blocks = [
        {"size": 512, "requested_size": 3, "state": "inactive"},
        {"size": 1024, "state": "active_allocated", "history": history},
    ]
    path = written(tmp_path / "s.pickle", {"segments": [segment(4096, blocks)]})
    read = compare(path, path.read_bytes())
    assert [row["address"] for row in read.blocks] == [4096, 4608]
    assert read.blocks[1]["stack_id"] == stack([frame(9)])


def test_keys_that_are_not_read_are_said(tmp_path: Path) -> None:
    segments = [segment(i << 20, [{**block(i << 20), "owner": i}], foo=1, bar=2) for i in range(3)]
    annotations = [
        {"name": "s", "stage": "END", "device": 0, "time_us": 5, str(i): i} for i in range(9)
    ]
    snapshot = {"segments": segments, "external_annotations": annotations, "x" * 5000: 1, 5: 2}
    reader = MemorySnapshot(written(tmp_path / "s.pickle", snapshot), Stacks())
    assert list(reader.events()) == []
    assert {said.code for said in reader.warnings} == {"keys_not_read"}
    assert [said.message for said in reader.warnings] == [
        f"the snapshot has keys that are not read: 5, {'x' * 40} (2 values)",
        "segments have keys that are not read: bar, foo (6 values)",
        "blocks have keys that are not read: owner (3 values)",
        "external_annotations have keys that are not read: 0, 1, 2, 3, … (9 values)",
    ]


def many(seed: int, count: int, devices: int = 2) -> dict[str, Any]:
    """A long trace of many layouts: lists of frames that are fresh, shared, empty, absent."""
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
            if layout & 2:  # equal strings of objects of their own, or strings of any kind
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


@pytest.mark.parametrize("protocol", [2, 4, 5])
@pytest.mark.parametrize("seed", range(4))
def test_long_traces_of_any_layout(seed: int, protocol: int, tmp_path: Path) -> None:
    snapshot = many(seed, 12_001)
    path = written(tmp_path / "s.pickle", snapshot, protocol)
    compare(path, path.read_bytes())


def test_events_in_one_batch_and_without_a_memo(tmp_path: Path) -> None:
    """As a pickler writes them that keeps only what is met again, and ends no batch."""

    class Sparing(pickle._Pickler):  # type: ignore[name-defined]
        _BATCHSIZE = 10**9
        fast = 0

    for protocol in (2, 4):
        written_to = io.BytesIO()
        pickler = Sparing(written_to, protocol)
        pickler.dump(many(9, 3000))
        path = tmp_path / f"{protocol}.pickle"
        path.write_bytes(written_to.getvalue())
        compare(path, path.read_bytes())


@pytest.mark.parametrize("count", [0, 1, 2, 999, 1000, 1001, 2001])
def test_any_number_of_events(count: int, tmp_path: Path) -> None:
    rows = [event("alloc", i, i, frames=[frame(i % 7)]) for i in range(count)]
    path = written(
        tmp_path / "s.pickle", {"device_traces": [rows, [], [dict(row) for row in rows[:1]]]}
    )
    snapshot = MemorySnapshot(path, Stacks())
    read = [row for batch in snapshot.events() for row in batch.to_pylist()]
    devices = [(row["device"], row["ordinal"], row["address"]) for row in read]
    assert devices[:count] == [(0, i, i) for i in range(count)]
    assert len(devices) == count + bool(count)


class NoLane(EventLane):
    def run(self, data: bytes, at: int, memo: list[Any]) -> None:
        """Leaves all to the machine."""


class Counting(EventLane):
    count = 0

    def run(self, data: bytes, at: int, memo: list[Any]) -> Run | None:
        held = len(memo)
        run = super().run(data, at, memo)
        if run is None:
            assert len(memo) == held
        else:
            Counting.count += run.count
        return run


@pytest.mark.parametrize("name", ["train_ctx512", "full_history_annotations", "long", "aliased"])
def test_the_lane_gives_what_the_machine_gives(
    name: str, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.pickle"
    if name == "long":
        rows = [row for row in many(5, 60_000, 1)["device_traces"][0] if len(row) < 9]
        written(path, {"device_traces": [rows]})
    elif name == "aliased":  # objects that are shared in odd ways
        rows = []
        for i in range(30_000):
            text, frames = f"t{i % 50}", [frame(i % 9)] if i % 700 == 0 else rows[-1]["frames"]
            more = {"compile_context": text, "user_metadata": text, "pool_id": (0, i % 3)}
            rows.append(event("alloc", i, i, frames=frames, forward_frames=frames, **more))
        written(path, {"device_traces": [rows]})
    else:
        path = samples / "snapshots" / f"{name}.pickle"
    monkeypatch.setattr(snapshot_module, "EventLane", NoLane)
    plain = Read(path)
    monkeypatch.setattr(snapshot_module, "EventLane", Counting)
    Counting.count = 0
    read = Read(path)
    assert read.events == plain.events
    assert read.blocks == plain.blocks
    assert (read.stacks, read.frames) == (plain.stacks, plain.frames)
    assert Counting.count > 0.5 * len(read.events)
