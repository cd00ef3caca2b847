"""Snapshots that would take much memory or time are refused in bounded time and memory."""

import gzip
import pickle

import pytest

from ingest.errors import ProfileError
from ingest.formats import io, records, stacks
from ingest.formats.pickle import values
from tests.builders.pickles import events, text
from tests.builders.snapshots import block, event, frame, segment
from tests.ingest.formats.snapshot.conftest import Read


@pytest.mark.parametrize(
    "code", [b"}", b"]", b"]\x94", b")\x94", b"K\x01", b"\x8a\x09" + b"\x01" * 9]
)
def test_small_files_with_huge_values_are_refused(
    code: bytes, read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(values, "MAX_HELD_BYTES", 2 << 20)
    monkeypatch.setattr(io, "ALWAYS_INFLATED", 1 << 19)
    bomb = b"\x80\x04" + code * ((3 << 18) // len(code))
    for content in (bomb, events(b"}\x94(" + bomb[2:])):
        with pytest.raises(ProfileError, match=r"more than 2 MiB of values|the file ends"):
            read(content)
    with pytest.raises(ProfileError, match=r"inflates to more than 200 times|more than 2 MiB"):
        read(gzip.compress(bomb, 9))


LIST = b"](" + b"N" * 300_000 + b"e"
HUGE = "x" * 100_000
ONE_HASH = b"".join(b"\x8a\x0a" + (n * (2**61 - 1)).to_bytes(10, "little") for n in range(100_000))
OOM = b"}(" + text("action") + text("oom") + b"u"
TRACE = b"\x80\x04}(" + text("device_traces") + b"]("


@pytest.mark.parametrize(
    ("why", "content"),
    [
        ("over and over", events(b"}\x94(" + text("x") + LIST + b"\x94" * 300_000 + b"u")),
        ("more than 4,096 lists", TRACE + (b"](" + OOM + b"e") * 9000 + b"eu."),
        ("more than 4,096 lists", TRACE + b"]" * 300_000 + b"eu."),
        ("not all of which are strings", b"\x80\x04}(" + ONE_HASH + b"u."),
    ],
)
def test_files_that_would_take_very_long_are_refused(why: str, content: bytes, read: Read) -> None:
    with pytest.raises(ProfileError, match=why):
        read(content)


@pytest.mark.parametrize("key", ["user_metadata", "action", "novel"])
def test_written_out_shared_strings_have_a_limit(
    key: str, read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MAX_COLUMN_CHARACTERS", 10 << 20)
    rows = [{**event("alloc", i, i), key: HUGE} for i in range(5000)]
    with pytest.raises(ProfileError, match="more than 10,485,760 characters"):
        read(pickle.dumps({"device_traces": [rows]}, 4))
    with pytest.raises(ProfileError, match="1,048,576 characters"):
        read(pickle.dumps({"device_traces": [[event("a", 1, 1, novel=[HUGE] * 20)]]}, 4))


def test_shared_strings_of_frames_have_a_limit(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stacks, "MAX_CHARACTERS", 10 << 20)
    frames = [{"name": HUGE, "filename": HUGE, "line": n} for n in range(1000)]
    with pytest.raises(ProfileError, match="more than 10,485,760 characters"):
        read(pickle.dumps({"device_traces": [[event("a", 1, 1, frames=frames)]]}, 4))


def test_memory_of_strings_has_a_limit(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "MAX_HELD_BYTES", 8 << 20)
    rows = [event("alloc", i, i, user_metadata=f"{i:01000}") for i in range(30_000)]
    with pytest.raises(ProfileError, match="more than 8 MiB of values"):
        read(pickle.dumps({"device_traces": [rows]}, 4))


def test_a_long_shared_list_is_read_once(read: Read) -> None:
    frames = [frame(1)] * 100_000
    rows = [event("alloc", i, i, frames=frames, novel=1) for i in range(5000)]
    blocks = [{**block(512 * i), "frames": frames} for i in range(5000)]
    content = {"device_traces": [rows], "segments": [segment(0, blocks)]}
    assert read(pickle.dumps(content, 4)) == 5000
