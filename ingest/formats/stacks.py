"""Call stacks in the files of a run, without duplicate frames or stacks."""

from typing import Any

import pyarrow as pa

from ingest.errors import ProfileError
from ingest.formats.pickle.values import kind
from ingest.formats.records import UINT64_MAX, as_json

FRAME_KEYS = {"name", "filename", "line"}
MAX_FRAMES = 500_000
MAX_CHARACTERS = 512 << 20  # of all distinct frames
NO_LINE = UINT64_MAX  # torch writes this for a frame without a line number
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
    """The distinct frames and stacks of all files of a run, numbered from 0."""

    def __init__(self) -> None:
        self._frames: dict[tuple[str | None, str | None, int | None, str | None], int] = {}
        self._stacks: dict[tuple[int, ...], int] = {}
        self._characters = 0
        self._returned = (0, 0)

    def frame_id(self, frame: Any, location: str) -> int:
        """Return the id of a frame. Raise ProfileError if it is not a dict with valid values."""
        if type(frame) is not dict:
            raise ProfileError(f"{location}: {kind(frame)}, not a frame")
        name, filename, line = frame.get("name"), frame.get("filename"), frame.get("line")
        for key, value in (("name", name), ("filename", filename)):
            if value is not None and type(value) is not str:
                raise ProfileError(f"{location}.{key}: {kind(value)}, not a string")
        if line is not None and type(line) is not int:
            raise ProfileError(f"{location}.line: {kind(line)}, not an integer")
        if line is not None and not 0 <= line <= UINT64_MAX:
            raise ProfileError(f"{location}.line: out of range: {line:,}")
        further = {key: frame[key] for key in frame if key not in FRAME_KEYS}
        other = as_json(further, location) if further else None
        row = (name, filename, None if line == NO_LINE else line, other)
        number = self._frames.setdefault(row, len(self._frames))
        if number == len(self._frames) - 1:
            self._characters += sum(len(text) for text in (name, filename, other) if text)
            if self._characters > MAX_CHARACTERS:
                raise ProfileError(
                    f"{location}: more than {MAX_CHARACTERS:,} characters in all frames together"
                )
        return number

    def stack_id(self, frame_ids: tuple[int, ...]) -> int | None:
        """Return the id of a stack of frames, innermost first, or None if there are no frames."""
        return self._stacks.setdefault(frame_ids, len(self._stacks)) if frame_ids else None

    def new_tables(self) -> tuple[pa.Table, pa.Table]:
        """Return the frames and stacks added since the last call."""
        frames, stacks = self.frames_table(), self.stacks_table()
        new = frames.slice(self._returned[0]), stacks.slice(self._returned[1])
        self._returned = len(frames), len(stacks)
        return new

    def frames_table(self) -> pa.Table:
        """Return `frame_id, name, filename, line, other`; `other` is all other keys as JSON."""
        columns = zip(*self._frames, strict=True) if self._frames else [[]] * 4
        numbers = pa.array(range(len(self._frames)), pa.int32())
        return pa.table([numbers, *map(list, columns)], schema=FRAMES)

    def stacks_table(self) -> pa.Table:
        """Return `stack_id, frame_ids`, innermost frame first."""
        numbers = pa.array(range(len(self._stacks)), pa.int32())
        return pa.table([numbers, list(map(list, self._stacks))], schema=STACKS)


class StacksOfFile:
    """The stacks of one file. Its frames are shared objects, so that each is read only once.

    It keeps references to the frames, so that their identities stay unique, and forgets them after
    `MAX_FRAMES` frames.
    """

    def __init__(self, stacks: Stacks) -> None:
        self._all = stacks
        self._frames: dict[int, tuple[int, Any]] = {}
        self._stacks: dict[tuple[int, ...], int | None] = {}

    def stack_id(self, frames: Any, location: str) -> int | None:
        """Return the id of a list of frames. Raise ProfileError if it is not one."""
        if frames is None:
            return None
        if type(frames) is not list:
            raise ProfileError(f"{location}: {kind(frames)}, not a list of frames")
        parts = tuple(map(id, frames))
        try:
            return self._stacks[parts]
        except KeyError:
            numbers = []
            if len(self._frames) > MAX_FRAMES:
                self._frames.clear()
                self._stacks.clear()
            for number, (part, frame) in enumerate(zip(parts, frames, strict=True)):
                if part not in self._frames:
                    frame_id = self._all.frame_id(frame, f"{location}[{number}]")
                    self._frames[part] = (frame_id, frame)
                numbers.append(self._frames[part][0])
            return self._stacks.setdefault(parts, self._all.stack_id(tuple(numbers)))
