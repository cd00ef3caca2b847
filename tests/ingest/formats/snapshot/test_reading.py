"""Memory snapshots: the reader returns the same as Python's unpickler."""

import gzip
import io
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import ingest.formats.snapshot.reader as snapshot_module
from ingest.formats.pickle.handover import Run
from ingest.formats.snapshot.bulk_reader import BulkEventReader
from ingest.formats.snapshot.reader import MemorySnapshot
from ingest.formats.snapshot.schemas import EVENT_SCHEMA
from ingest.formats.stacks import Stacks
from tests.builders.snapshots import Row, block, event, frame, many, odd, segment
from tests.helpers.samples import SNAPSHOTS

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


class Read:
    """The reader's result for a file: rows with stacks written out."""

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
        self.warnings = [warning.message for warning in snapshot.warnings]
        self.pickle_bytes = snapshot.pickle_bytes

    def _rows(self, rows: Any) -> list[Row]:
        rows = list(rows)
        for row in rows:
            for key in ("stack_id", "forward_stack_id"):
                if row.get(key) is not None:
                    row[key] = self._stacks[row[key]]
        return rows


def stack(frames: Any) -> Any:
    """Return a stack written out. Frames have no other keys, except in tests that add some."""
    known = ("name", "filename", "line")
    found = []
    for row in frames or ():
        other = {key: value for key, value in row.items() if key not in known}
        line = row.get("line")
        found.append(
            (
                row.get("name"),
                row.get("filename"),
                None if line == 2**64 - 1 else line,
                json.dumps(other) if other else None,
            )
        )
    return tuple(found) or None


def pool(ids: Any) -> str | None:
    return None if ids is None else str(tuple(ids))


def walked(content: bytes) -> dict[str, Any]:
    """Return the expected result, from Python's unpickler and row by row."""
    snapshot = pickle.loads(content)
    if isinstance(snapshot, list):
        snapshot = {"segments": snapshot}
    events: list[Row] = []
    for device, trace in enumerate(snapshot.get("device_traces", [])):
        for ordinal, action in enumerate(trace):
            row = dict.fromkeys(EVENT_SCHEMA.names)
            other = {}
            for key, value in action.items():
                if key in PLAIN_EVENT:
                    row[PLAIN_EVENT[key]] = value
                elif key not in ("frames", "forward_frames", "pool_id"):
                    other[key] = value
            row.update(device=device, ordinal=ordinal, pool=pool(action.get("pool_id")))
            row["stack_id"] = stack(action.get("frames"))
            row["forward_stack_id"] = stack(action.get("forward_frames"))
            row["other"] = json.dumps(other) if other else None
            events.append(row)
    segments, blocks = [], []
    for number, part in enumerate(snapshot["segments"]):
        row = {name: part.get(key) for key, name in SEGMENT.items()}
        row |= {"segment_id": number, "pool": pool(part.get("segment_pool_id"))}
        segments.append({**row, "stack_id": stack(part.get("frames"))})
        address = part["address"]
        for piece in part["blocks"]:
            history = piece.get("history") or [{}]
            blocks.append(
                {
                    "segment_id": number,
                    "device": part.get("device"),
                    "address": piece.get("address", address),
                    "bytes": piece["size"],
                    "requested_bytes": piece.get("requested_size"),
                    "state": piece["state"],
                    "stack_id": stack(piece.get("frames", history[0].get("frames"))),
                }
            )
            address += piece["size"]
    annotations = [
        {key: row.get(key) for key in ("device", "name", "stage", "time_us")}
        for row in snapshot.get("external_annotations", [])
    ]
    past = sum(
        len(row.get("history") or [0]) - 1
        for part in snapshot["segments"]
        for row in part["blocks"]
    )
    warnings = [f"{past:,} earlier allocations in the history of blocks not read"] if past else []
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


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_samples_read_as_python_reads_them(name: str, samples: Path) -> None:
    path = samples / "snapshots" / f"{name}.pickle"
    compare(path, path.read_bytes())


def test_stacks_are_stored_once(samples: Path) -> None:
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


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_rare_values_are_read(protocol: int, tmp_path: Path) -> None:
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
def test_sections_may_be_in_any_order_and_compressed(order: int, tmp_path: Path) -> None:
    snapshot = dict(list(odd().items())[::order])
    content = pickle.dumps(snapshot, 4)
    path = tmp_path / "s.pickle.gz"
    path.write_bytes(gzip.compress(content))
    compare(path, content)


def test_a_bare_list_is_a_list_of_segments(tmp_path: Path) -> None:
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


def test_unknown_keys_have_a_warning(tmp_path: Path) -> None:
    segments = [segment(i << 20, [{**block(i << 20), "owner": i}], foo=1, bar=2) for i in range(3)]
    annotations = [
        {"name": "s", "stage": "END", "device": 0, "time_us": 5, str(i): i} for i in range(9)
    ]
    snapshot = {"segments": segments, "external_annotations": annotations, "x" * 5000: 1, 5: 2}
    reader = MemorySnapshot(written(tmp_path / "s.pickle", snapshot), Stacks())
    assert list(reader.events()) == []
    assert {warning.code for warning in reader.warnings} == {"keys_not_read"}
    assert [warning.message for warning in reader.warnings] == [
        f"the snapshot has keys that are not read: 5, {'x' * 40} (2 values)",
        "segments have keys that are not read: bar, foo (6 values)",
        "blocks have keys that are not read: owner (3 values)",
        "external_annotations have keys that are not read: 0, 1, 2, 3, … (9 values)",
    ]


@pytest.mark.parametrize(("seed", "protocol"), [(0, 2), (1, 4), (2, 5), (3, 2), (4, 4)])
def test_long_traces_with_any_layout_are_read(seed: int, protocol: int, tmp_path: Path) -> None:
    snapshot = many(seed, 6_001)
    path = written(tmp_path / "s.pickle", snapshot, protocol)
    compare(path, path.read_bytes())


def test_events_in_one_batch_and_without_a_memo_are_read(tmp_path: Path) -> None:
    """The file is from a pickler that memoizes only repeated values and never ends a batch."""

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
def test_any_number_of_events_is_read(count: int, tmp_path: Path) -> None:
    rows = [event("alloc", i, i, frames=[frame(i % 7)]) for i in range(count)]
    path = written(
        tmp_path / "s.pickle", {"device_traces": [rows, [], [dict(row) for row in rows[:1]]]}
    )
    snapshot = MemorySnapshot(path, Stacks())
    read = [row for batch in snapshot.events() for row in batch.to_pylist()]
    devices = [(row["device"], row["ordinal"], row["address"]) for row in read]
    assert devices[:count] == [(0, i, i) for i in range(count)]
    assert len(devices) == count + bool(count)


class NoBulkReading(BulkEventReader):
    def run(self, data: bytes, at: int, memo: list[Any]) -> None:
        """Leave everything to the machine."""


class CountingReader(BulkEventReader):
    count = 0

    def run(self, data: bytes, at: int, memo: list[Any]) -> Run | None:
        held = len(memo)
        run = super().run(data, at, memo)
        if run is None:
            assert len(memo) == held
        else:
            CountingReader.count += run.count
        return run


@pytest.mark.parametrize("name", ["train_ctx512", "full_history_annotations", "long", "aliased"])
def test_bulk_reading_has_the_same_result_as_the_machine(
    name: str, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.pickle"
    if name == "long":
        rows = [row for row in many(5, 20_000, 1)["device_traces"][0] if len(row) < 9]
        written(path, {"device_traces": [rows]})
    elif name == "aliased":  # objects that are shared in odd ways
        rows = []
        for i in range(10_000):
            text, frames = f"t{i % 50}", [frame(i % 9)] if i % 700 == 0 else rows[-1]["frames"]
            more = {"compile_context": text, "user_metadata": text, "pool_id": (0, i % 3)}
            rows.append(event("alloc", i, i, frames=frames, forward_frames=frames, **more))
        written(path, {"device_traces": [rows]})
    else:
        path = samples / "snapshots" / f"{name}.pickle"
    monkeypatch.setattr(snapshot_module, "BulkEventReader", NoBulkReading)
    plain = Read(path)
    monkeypatch.setattr(snapshot_module, "BulkEventReader", CountingReader)
    CountingReader.count = 0
    read = Read(path)
    assert read.events == plain.events
    assert read.blocks == plain.blocks
    assert (read.stacks, read.frames) == (plain.stacks, plain.frames)
    assert CountingReader.count > 0.5 * len(read.events)
