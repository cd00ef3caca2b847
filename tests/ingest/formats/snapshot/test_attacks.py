"""Hostile snapshots: none of their code runs, and they are refused in bounded time and memory."""

import contextlib
import gzip
import os
import pickle
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import IngestError, ProfileError
from ingest.formats.snapshot import bulk_reader
from ingest.formats.snapshot.reader import MemorySnapshot
from ingest.formats.stacks import Stacks
from tests.builders.pickles import events, text
from tests.builders.snapshots import block, event, frame, many, segment
from tests.helpers.samples import SNAPSHOTS
from tests.ingest.formats.snapshot.conftest import Read, wrongly_read

pytestmark = pytest.mark.slow  # hundreds of damaged files


class Runs:
    def __init__(self, made: Path) -> None:
        self.made = made

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.made),)


@pytest.mark.parametrize("protocol", range(2, 6))
@pytest.mark.parametrize("where", ["alone", "event", "segment", "setting", "frame", "top"])
def test_code_in_a_pickle_does_not_run(
    where: str, protocol: int, read: Read, tmp_path: Path
) -> None:
    made = tmp_path / "made"
    evil = Runs(made)
    content = pickle.dumps(
        {
            "alone": evil,
            "event": {"device_traces": [[event("alloc", 1, 1), evil]]},
            "segment": {"segments": [segment(1, [block(1)], frames=evil)]},
            "setting": {"segments": [], "allocator_settings": {"a": evil}},
            "frame": {"device_traces": [[event("alloc", 1, 1, frames=[frame(fx=evil)])]]},
            "top": {"segments": [], "more": [evil]},
        }[where],
        protocol,
    )
    with pytest.raises(
        ProfileError, match=r"byte [\d,]+ of the pickle: (STACK_)?GLOBAL of posix.m"
    ):
        read(content)
    assert not made.exists()
    pickle.loads(content)  # Python's unpickler runs it
    assert made.exists()


OPCODES = [
    ("GLOBAL of os.system", b"cos\nsystem\n"),
    ("STACK_GLOBAL of os.system", text("os") + text("system") + b"\x93"),
    ("INST of os.system", b"(" + text("true") + b"ios\nsystem\n"),
    ("OBJ", b"(" + text("os") + b"o"),
    ("NEWOBJ", b"))\x81"),
    ("NEWOBJ_EX", b"))}\x92"),
    ("REDUCE", text("os") + text("true") + b"\x85R"),
    ("BUILD", b"}}b"),
    ("EXT1", b"\x82\x01"),
    ("EXT2", b"\x83\x01\x01"),
    ("EXT4", b"\x84\x01\x01\x01\x01"),
    ("PERSID", b"Pfile\n"),
    ("BINPERSID", text("file") + b"Q"),
    ("NEXT_BUFFER", b"\x97"),
    ("READONLY_BUFFER", b"\x98"),
    ("BYTEARRAY8", b"\x96" + struct.pack("<Q", 1 << 40)),
    ("BINBYTES8", b"\x8e" + struct.pack("<Q", 1 << 40)),
    ("SHORT_BINBYTES", b"C\x01a"),
    ("EMPTY_SET", b"\x8f"),
    ("FROZENSET", b"(\x91"),
    ("POP", b"N0"),
    ("POP_MARK", b"(1"),
    ("DUP", b"N2"),
    ("unknown opcode 0xff", b"\xff"),
]


def test_opcodes_for_other_than_plain_data_are_refused(read: Read) -> None:
    cases = [
        (r"byte [\d,]+ of the pickle: " + name, content)
        for name, code in OPCODES
        for content in (b"\x80\x04" + code + b".", events(code))
    ]
    assert wrongly_read(read, cases) == []


INVALID = [
    ("nested more than", b"(" * 200_000),
    ("nested more than", b"](" * 200_000),
    ("ends with 200000 values", b"]" * 200_000 + b"."),
    ("ends with 2 values", b"]" * 200_000 + b"a" * 199_999 + b"}."),
    ("a value is memoized under number 4,294,967,295", b"]r\xff\xff\xff\xff"),
    ("a value is memoized under number 255", b"]q\xff"),
    ("the memo has no value number 4,294,967,295", b"j\xff\xff\xff\xff"),
    ("the memo has no value number 7", b"h\x07"),
    ("a length of 1,099,511,627,776", b"\x8d" + struct.pack("<Q", 1 << 40)),
    ("a length of 4,294,967,295", b"X\xff\xff\xff\xff"),
    ("a length of 4,294,967,295", b"\x8b\xff\xff\xff\xff"),
    ("a length of 18,446,744,073,709,551,615", b"\x95" + b"\xff" * 8),
    ("the file ends after", b"\x8d" + struct.pack("<Q", 1 << 20)),
    ("the file ends after", b"X\x05\x00\x00\x00abcd"),
    ("the file ends after", b"\x8c\x05abcd"),
    ("the file ends after", b"\x8a\x05abcd"),
    ("the file ends after", b"J\x01"),
    ("protocol 77", b"\x80\x4d"),
    ("a list as a key", b"}]]s."),
    ("a dict as a key", b"}(}]u."),
    ("a tuple as a key", b"}(" + b")" + b"\x85" * 100_000 + b"Nu."),
    ("cannot set keys of a list", b"](KKKKu."),
    ("cannot add items to a dict", b"}(KKKKe."),
    ("a key without a value", b"}(K\x01K\x01K\x01u."),
    ("too few values on the stack", b"a"),
    ("too few values on the stack", b"](a"),
    ("too few values on the stack", b"]](s"),
    ("too few values on the stack", b"\x87"),
    ("no MARK on the stack", b"u"),
    ("no MARK on the stack", b"t"),
    ("too few values on the stack", b"(e"),
    ("too few values on the stack", b"]((e"),
    ("no value to memoize", b"\x94"),
    ("ends with 0 values", b"."),
    ("ends with 1 values", b"(]."),
]


def test_invalid_pickles_are_refused(read: Read) -> None:
    cases = [(why, bytes([0x80, protocol]) + code) for why, code in INVALID for protocol in (2, 4)]
    assert wrongly_read(read, cases) == []


def test_files_that_are_not_pickles_are_refused(read: Read) -> None:
    contents = [b"", b"{}", b"\x80", b"PK\x03\x04" * 50, b"\x1f\x8b", b"(lp0\n."]
    assert wrongly_read(read, [("", content) for content in contents]) == []


def doubled(make: Callable[[Any], Any], depth: int = 60) -> Any:
    value: Any = make(1)
    for _ in range(depth):
        value = make(value)
    return value


DOUBLINGS = (lambda x: (x, x), lambda x: [x, x], lambda x: {"a": x, "b": x})
PLACES: list[tuple[str, Callable[[Any], Any]]] = [
    (r"device_traces\[0\]\[0\]", lambda x: {"device_traces": [[event("a", 1, 1, new=x)]]}),
    (r"user_metadata", lambda x: {"device_traces": [[event("a", 1, 1, user_metadata=x)]]}),
    (r"frames", lambda x: {"device_traces": [[event("a", 1, 1, frames=x)]]}),
    (
        r"frames\[0\]",
        lambda x: {"device_traces": [[event("a", 1, 1, frames=[frame(1, fx=x)])]]},
    ),
    (r"pool_id", lambda x: {"device_traces": [[event("a", 1, 1, pool_id=x)]]}),
    (r"allocator_settings", lambda x: {"segments": [], "allocator_settings": {"a": x}}),
    (r"segments", lambda x: {"segments": x}),
]


def test_values_that_grow_exponentially_when_written_out_are_refused(read: Read) -> None:
    cases = [
        (location, pickle.dumps(around(doubled(make)), protocol))
        for location, around in PLACES
        for make in DOUBLINGS
        for protocol in (2, 4)
    ]
    assert wrongly_read(read, cases) == []


@pytest.mark.parametrize("protocol", [2, 4])
def test_lists_that_contain_themselves_are_refused(protocol: int, read: Read) -> None:
    inner: list[Any] = []
    inner.append(inner)
    for snapshot in (
        {"device_traces": [[event("a", 1, 1, new=inner)]]},
        {"device_traces": [[event("a", 1, 1, frames=inner)]]},
        {"device_traces": inner},
        {"device_traces": [inner]},
        {"segments": inner},
        {"segments": [], "allocator_settings": {"a": inner}},
        inner,
    ):
        with pytest.raises(ProfileError):
            read(pickle.dumps(snapshot, protocol))


def test_repeated_keys_and_items_are_refused(read: Read) -> None:
    rows = pickle.dumps([event("alloc", i, i) for i in range(2000)], 4)
    trace = rows[rows.index(b"](") if b"](" in rows else rows.index(b"]\x94(") : -1]
    again = b"\x80\x04}" + (text("device_traces") + b"]" + trace + b"as") * 2 + b"."
    with pytest.raises(ProfileError, match=r"a second list for device_traces\[0\]"):
        read(again)
    shared = event("alloc", 1, 1)
    with pytest.raises(ProfileError, match="a second reference to a list item, not a dict"):
        read(pickle.dumps({"device_traces": [[shared, event("free", 1, 1), shared]]}, 4))
    with pytest.raises(ProfileError, match=r"segments\[0\].device: out of range"):
        read(pickle.dumps([segment(0, [], device=1 << 31)]))


def test_annotations_of_cuda_graphs_are_named(read: Read) -> None:
    annotations = {4294967296 * node: [{"str": "attention"}, "outer"] for node in (1, 2)}
    with pytest.raises(ProfileError, match="_annotate_cuda_graph_trace` adds them to a trace"):
        read(pickle.dumps(annotations))


@pytest.mark.parametrize("in_list", [False, True])
def test_snapshots_under_other_keys_are_refused_with_the_keys(read: Read, in_list: bool) -> None:
    held = {"snapshot": {"segments": [], "device_traces": []}, "step": 3}
    with pytest.raises(ProfileError, match="the keys snapshot, step; write the snapshot under"):
        read(pickle.dumps([held, held] if in_list else held))


def test_the_size_of_a_pickle_is_limited(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    content = pickle.dumps(many(1, 2000), 4)
    monkeypatch.setenv("TRACEHOUSE_MAX_SNAPSHOT_BYTES", "100000")
    with pytest.raises(ProfileError, match="set TRACEHOUSE_MAX_SNAPSHOT_BYTES to a higher number"):
        read(content)
    monkeypatch.setenv("TRACEHOUSE_MAX_SNAPSHOT_BYTES", str(len(content)))
    assert read(content) == 4000
    monkeypatch.setenv("TRACEHOUSE_MAX_SNAPSHOT_BYTES", "much")
    with pytest.raises(IngestError, match="must be a whole number of bytes, at least 1, not much"):
        read(content)


def test_data_after_the_pickle_has_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "s.pickle"
    path.write_bytes(pickle.dumps({"segments": []}) + b"junk" * 1000)
    snapshot = MemorySnapshot(path, Stacks())
    assert list(snapshot.events()) == []
    assert snapshot.warnings == [
        ("bytes_after_end", "4,000 bytes after the end of the pickle were not read")
    ]


@pytest.mark.parametrize("name", ["cpp_pickler_protocol2", "trimmed", "train_ctx128"])
def test_truncated_files_are_refused(name: str, samples: Path, read: Read) -> None:
    content = (samples / "snapshots" / f"{name}.pickle").read_bytes()
    step = 997 if len(content) < 10**6 else 997 * 307
    for size in [*range(0, 300, 7), *range(300, len(content), step), len(content) - 1]:
        with pytest.raises(ProfileError, match=f"ends after {size:,} bytes|not a pickle"):
            read(content[:size])
    with pytest.raises(ProfileError, match="the compressed stream ends after"):
        read(gzip.compress(content)[:-500])


WRONG = ["text", 1.5, [1], {"a": 1}, (1, 2, 3), True]
INTEGERS = ("addr", "size", "stream", "time_us", "device_free")
STRINGS = ("action", "compile_context", "user_metadata", "category")


def test_invalid_values_of_events_are_refused(read: Read) -> None:
    rows = [event("alloc", i, i, time_us=i, frames=[frame(1)]) for i in range(1500)]
    cases = []
    for key in (*INTEGERS, *STRINGS, "pool_id", "frames", "forward_frames"):
        for value in (*WRONG, 1 << 70, -(1 << 70)):
            if not (key in STRINGS and type(value) is str):
                changed = [*rows[:1234], {**rows[1234], key: value}, *rows[1235:]]
                content = pickle.dumps({"device_traces": [changed]}, 4)
                cases.append((rf"device_traces\[0\]\[1234\]\.{key}\b", content))
    assert wrongly_read(read, cases) == []


def test_errors_name_the_location_of_an_invalid_value(read: Read) -> None:
    rows = [event("alloc", i, i) for i in range(2000)]
    rows[1234]["size"] = "x"
    with pytest.raises(
        ProfileError, match=r"s\.pickle: device_traces\[0\]\[1234\]\.size: a string, "
    ):
        read(pickle.dumps({"device_traces": [rows]}, 4))


@pytest.mark.parametrize(
    ("message", "snapshot"),
    [
        (r"device_traces\[0\]\[1\]: action is missing", [[event("a", 1, 1), {"addr": 1}]]),
        (r"device_traces\[0\]\[1\]: addr is missing", [[event("a", 1, 1), {"action": "alloc"}]]),
        (r"device_traces\[0\]\[0\].addr: out of range", [[event("a", -1, 1)]]),
        (r"device_traces\[0\]\[0\]: an integer, not a dict", [[5]]),
        (r"device_traces\[1\]: an integer, not a list", [[], 5]),
        (r"device_traces: a dict, not a list", {}),
        (r"device_traces\[0\]\[0\].frames\[0\]: a string", [[event("a", 1, 1, frames=["x"])]]),
        (
            r"frames\[0\].line: out of range",
            [[event("a", 1, 1, frames=[frame(-1)])]],
        ),
        (r"frames\[0\].name: a list", [[event("a", 1, 1, frames=[frame(name=[1])])]]),
    ],
)
def test_invalid_traces_are_refused(message: str, snapshot: Any, read: Read) -> None:
    with pytest.raises(ProfileError, match=message):
        read(pickle.dumps({"device_traces": snapshot}, 4))


def test_invalid_segments_are_refused(read: Read) -> None:
    cases = []
    for key in ("address", "total_size", "blocks"):
        for value in (None, "text", 1 << 70):
            rows = [segment(4096, [block(4096)]), {**segment(8192, [block(8192)]), key: value}]
            cases.append((rf"segments\[1\](: |\.){key}", pickle.dumps(rows)))
    assert wrongly_read(read, cases) == []


def test_invalid_blocks_are_refused(read: Read) -> None:
    cases = []
    for key in ("size", "state", "address", "requested_size", "frames"):
        for value in (None, 1.5, -(1 << 70)):
            blocks = [block(4096), {**block(5000), key: value}]
            content = pickle.dumps([{**segment(4096, []), "blocks": blocks}])
            if value is None and key not in ("size", "state"):
                assert read(content) == 0, key
            else:
                cases.append((rf"segments\[0\]\.blocks\[1\](: |\.){key}", content))
    assert wrongly_read(read, cases) == []


def test_values_that_are_not_snapshots_are_refused(read: Read) -> None:
    values = [5, "text", None, {}, {"segments": 5}, {"a": []}, [5]]
    assert wrongly_read(read, [("", pickle.dumps(value)) for value in values]) == []


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_any_damage_is_a_profile_error(name: str, samples: Path, read: Read) -> None:
    content = (samples / "snapshots" / f"{name}.pickle").read_bytes()[:300_000]
    draw = random.Random(name)
    for _ in range(25):
        damaged = bytearray(content)
        for _ in range(draw.choice([1, 1, 3, 30])):
            place = draw.randrange(len(damaged))
            kind = draw.randrange(3)
            if kind == 0:
                damaged[place] = draw.randrange(256)
            elif kind == 1:
                del damaged[place : place + draw.randrange(40)]
            else:
                damaged[place:place] = draw.randbytes(draw.randrange(20))
        with contextlib.suppress(ProfileError):
            read(bytes(damaged))


def test_the_search_for_layouts_is_bounded(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[bytes] = []
    monkeypatch.setattr(bulk_reader, "layout_of", lambda item, memo: looks.append(item))
    assert read(pickle.dumps({"device_traces": [[event("a", i, 1) for i in range(9000)]]})) == 9000
    assert 0 < len(looks) < 500
