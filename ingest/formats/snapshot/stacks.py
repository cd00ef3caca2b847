"""Call stacks of memory snapshots: each distinct frame once, and each distinct stack once."""

from typing import Any

import pyarrow as pa

from ingest.errors import ProfileError
from ingest.formats.snapshot.pickle.machine import kind
from ingest.formats.snapshot.records import UINT64_MAX, as_json

FRAME_KEYS = {"name", "filename", "line"}
MOST_FRAMES = 500_000
MAX_CHARACTERS = 512 << 20  # of all distinct frames, of which each is written out
NO_LINE = UINT64_MAX  # what torch writes for a frame without one
FRAMES = pa.schema(
    [
        ("frame_id", pa.int32()),
        ("name", pa.string()),
        ("filename", pa.string()),
        ("line", pa.uint64()),
        ("other", pa.string()),
    ]
)
STACKS = pa.schema([("stack_id", pa.int32()), ("frame_ids", pa.list_(pa.int32()))])


class Stacks:
    """The distinct frames and stacks of any number of snapshots, by content, numbered from 0."""

    def __init__(self) -> None:
        self._frames: dict[tuple[str | None, str | None, int | None, str | None], int] = {}
        self._stacks: dict[tuple[int, ...], int] = {}
        self._characters = 0
        self._asked = (0, 0)

    def frame_id(self, frame: Any, place: str) -> int:
        """The number of a frame, a dict. Raises ProfileError where it is none."""
        if type(frame) is not dict:
            raise ProfileError(f"{place}: {kind(frame)}, not a frame")
        name, filename, line = frame.get("name"), frame.get("filename"), frame.get("line")
        for key, value in (("name", name), ("filename", filename)):
            if value is not None and type(value) is not str:
                raise ProfileError(f"{place}.{key}: {kind(value)}, not a string")
        if line is not None and type(line) is not int:
            raise ProfileError(f"{place}.line: {kind(line)}, not an integer")
        if line is not None and not 0 <= line <= UINT64_MAX:
            raise ProfileError(f"{place}.line: {line:,} is out of range")
        further = {key: frame[key] for key in frame if key not in FRAME_KEYS}
        other = as_json(further, place) if further else None
        row = (name, filename, None if line == NO_LINE else line, other)
        number = self._frames.setdefault(row, len(self._frames))
        if number == len(self._frames) - 1:
            self._characters += sum(len(text) for text in (name, filename, other) if text)
            if self._characters > MAX_CHARACTERS:
                raise ProfileError(
                    f"{place}: the frames have more than {MAX_CHARACTERS:,} characters"
                )
        return number

    def stack_id(self, frame_ids: tuple[int, ...]) -> int | None:
        """The number of a stack of these frames, innermost first; None where it has none."""
        return self._stacks.setdefault(frame_ids, len(self._stacks)) if frame_ids else None

    def new_tables(self) -> tuple[pa.Table, pa.Table]:
        """The frames and the stacks that were met since this was last asked."""
        frames, stacks = self.frames_table(), self.stacks_table()
        new = frames.slice(self._asked[0]), stacks.slice(self._asked[1])
        self._asked = len(frames), len(stacks)
        return new

    def frames_table(self) -> pa.Table:
        """`frame_id, name, filename, line, other`: other keys of the frame as JSON."""
        columns = zip(*self._frames, strict=True) if self._frames else [[]] * 4
        numbers = pa.array(range(len(self._frames)), pa.int32())
        return pa.table([numbers, *map(list, columns)], schema=FRAMES)

    def stacks_table(self) -> pa.Table:
        """`stack_id, frame_ids`, innermost first."""
        numbers = pa.array(range(len(self._stacks)), pa.int32())
        return pa.table([numbers, list(map(list, self._stacks))], schema=STACKS)


class StacksOfFile:
    """The stacks of one file, whose frames are shared objects: each is looked at once.

    It keeps the frames it has met, so that none is taken for another; so many, and it starts anew.
    """

    def __init__(self, stacks: Stacks) -> None:
        self._all = stacks
        self._frames: dict[int, tuple[int, Any]] = {}
        self._stacks: dict[tuple[int, ...], int | None] = {}

    def stack_id(self, frames: Any, place: str) -> int | None:
        """The number of a list of frames. Raises ProfileError where it is none."""
        if frames is None:
            return None
        if type(frames) is not list:
            raise ProfileError(f"{place}: {kind(frames)}, not a list of frames")
        parts = tuple(map(id, frames))
        try:
            return self._stacks[parts]
        except KeyError:
            numbers = []
            if len(self._frames) > MOST_FRAMES:
                self._frames.clear()
                self._stacks.clear()
            for number, (part, frame) in enumerate(zip(parts, frames, strict=True)):
                if part not in self._frames:
                    frame_id = self._all.frame_id(frame, f"{place}[{number}]")
                    self._frames[part] = (frame_id, frame)
                numbers.append(self._frames[part][0])
            return self._stacks.setdefault(parts, self._all.stack_id(tuple(numbers)))
