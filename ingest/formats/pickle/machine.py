"""Streaming reader of pickles of plain data, which cannot run code.

A pickle is a program. This machine supports only the opcodes that build dicts, lists, tuples,
strings, numbers, True, False and None. It refuses all others: those that import, call or build
anything else. It shares no code with Python's unpickler, because a file can make the unpickler
import modules or allocate tens of gigabytes. Nothing here recurses, lengths are checked before
memory is allocated, and the memory of values has a limit.

The lists inside the list under one key of the outermost dict, such as `device_traces[i]`, may have
any length: their items are handed over as they are read, and then released. `read_pickle` reads a
pickle without such a key.
"""

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

from ingest.errors import ProfileError
from ingest.formats.pickle.handover import (  # fmt: skip
    CONTAINER_BYTES,
    ITEM_BYTES,
    BulkReader,
    Items,
    ListHandover,
    State,
)
from ingest.formats.pickle.opcodes import (  # fmt: skip
    APPENDS,
    BINGET,
    BININT,
    BININT1,
    BININT2,
    EMPTY_DICT,
    EMPTY_LIST,
    LONG1,
    LONG_BINGET,
    MARK,
    MEMOIZE,
    SETITEMS,
    SHORT_TEXT,
    STOP,
    int32,
    uint16,
    uint32,
)
from ingest.formats.pickle.rare import run_rare
from ingest.formats.pickle.stream import PickleBytes
from ingest.formats.pickle.values import Values, kind
from ingest.formats.source import SourceWarning

MAX_DEPTH = 64


class PickleStream:
    """Reader of a pickle, in one pass: iterate `items()`; then `value` has everything else.

    `key`: the lists in the list under this key of the outermost dict are handed over. In `value`
    they are empty. Without a key, `value` has everything. `read_bytes`: size of the decompressed
    pickle. `warnings`: warnings about the file. `progress`: called with the bytes of the file on
    disk read so far. `max_held_bytes`: the memory that `value` may take.
    Reading raises ProfileError, which names the file and the byte, for anything but plain data.
    """

    def __init__(
        self,
        path: Path,
        key: str | None,
        bulk_reader: BulkReader | None = None,
        progress: Callable[[int], None] | None = None,
        max_held_bytes: int | None = None,
    ) -> None:
        self.path = path
        self.value: Any = None
        self._key = key
        self._source = PickleBytes(path, progress)
        self.warnings = self._source.warnings
        self._state = State()
        self._lists = ListHandover(self._source, self._state, key, bulk_reader)
        self._values = Values(self._source, self._state, key, max_held_bytes)

    @property
    def read_bytes(self) -> int:
        """Bytes of the decompressed pickle read so far."""
        return self._source.read_bytes

    def items(self) -> Iterator[Items]:
        """Yield the items of the lists under the key, in file order within each list."""
        self._values.load(0, 2)
        if self._source.data[:1] != b"\x80":
            raise ProfileError(f"{self.path}: not a pickle of protocol 2 or later")
        end = yield from self._run()
        if excess := self._source.read_on(end):
            message = f"{excess:,} bytes after the end of the pickle were not read"
            self.warnings.append(SourceWarning("bytes_after_end", message))
        yield from self._lists.rest(self.value)

    def _run(self) -> Generator[Items, None, int]:
        """Run the pickle. Return the position after its end in the loaded data."""
        source, state, lists, values = self._source, self._state, self._lists, self._values
        texts = values.texts
        stack, marks, memo = state.stack, state.marks, state.memo
        push, memoize, fail = stack.append, memo.append, source.fail
        data, safe, at = source.data, source.safe, 0
        while True:
            if at >= safe:
                at = source.load_opcode(at)
                values.check_held()
                data, safe = source.data, source.safe
            op = data[at]
            at += 1
            if op == BINGET:
                number = data[at]
                if number >= len(memo):
                    fail(at - 1, f"the memo has no value number {number}")
                push(memo[number])
                at += 1
            elif op == LONG_BINGET:
                [number] = uint32(data, at)
                if number >= len(memo):
                    fail(at - 1, f"the memo has no value number {number:,}")
                push(memo[number])
                at += 4
            elif op == MEMOIZE:
                if not stack:
                    fail(at - 1, "no value to memoize")
                memoize(stack[-1])
            elif op == LONG1:
                end = at + 1 + data[at]
                push(int.from_bytes(data[at + 1 : end], "little", signed=True))
                at = end
            elif op == BININT1:
                push(data[at])
                at += 1
            elif op == MARK:
                marks.append(len(stack))
                if len(marks) > MAX_DEPTH:
                    fail(at - 1, f"nested more than {MAX_DEPTH} levels deep")
                if lists.open_at < 0 and stack and type(stack[-1]) is list and len(marks) < 4:
                    lists.open(at - 1)
            elif op == SETITEMS:
                mark = values.unmark(at - 1, 1)
                values.set(at - 1, stack[mark - 1], stack[mark:])
                del stack[mark:]
            elif op == EMPTY_DICT:
                if marks and marks[-1] == lists.open_at and len(stack) - marks[-1] < 2:
                    end = lists.next(at - 1)
                    if lists.ready:
                        yield from lists.ready
                        lists.ready.clear()
                    if end >= at:
                        at = end
                        continue
                push({})
                state.held += CONTAINER_BYTES
            elif op == SHORT_TEXT:
                end = at + 1 + data[at]
                raw = data[at + 1 : end]
                text = texts.get(raw)
                if text is None:
                    text = values.text(raw)
                push(text)
                at = end
            elif op == EMPTY_LIST:
                push([])
                state.held += CONTAINER_BYTES
            elif op == APPENDS:
                mark = values.unmark(at - 1, 1)
                target = stack[mark - 1]
                if type(target) is not list:
                    fail(at - 1, f"cannot add items to {kind(target)}")
                if mark == lists.open_at:
                    lists.close()
                    yield from lists.ready
                    lists.ready.clear()
                else:
                    target += stack[mark:]
                    state.held += ITEM_BYTES * (len(stack) - mark)
                del stack[mark:]
            elif op == BININT:
                push(int32(data, at)[0])
                at += 4
            elif op == BININT2:
                push(uint16(data, at)[0])
                at += 2
            elif op == STOP:
                break
            else:
                at = run_rare(values, lists, op, at)
                data, safe = source.data, source.safe
        if len(stack) != 1 or marks:
            fail(at - 1, f"the pickle ends with {len(stack)} values, not one")
        self.value = stack.pop()
        return at


def read_pickle(
    path: Path, max_held_bytes: int, progress: Callable[[int], None] | None = None
) -> PickleStream:
    """Read a pickle completely, and return its reader: `value` has everything.

    Raise ProfileError, which names the file and the byte, for anything but plain data, and if the
    value would take more than `max_held_bytes` of memory.
    """
    stream = PickleStream(path, None, progress=progress, max_held_bytes=max_held_bytes)
    for _ in stream.items():  # a pickle without a key has none
        pass
    return stream
