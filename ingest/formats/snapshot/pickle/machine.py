"""Streaming reader of pickles of plain data, which cannot run code.

A pickle is a program. This machine supports only the opcodes that build dicts, lists, tuples,
strings, numbers, True, False and None. It refuses all others: those that import, call or build
anything else. It shares no code with Python's unpickler, because a file can make the unpickler
import modules or allocate tens of gigabytes. Nothing here recurses, lengths are checked before
memory is allocated, and the memory of values has a limit.

The lists inside the list under one key of the outermost dict, such as `device_traces[i]`, may have
any length: their items are handed over as they are read, and then released.
"""

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, NoReturn

from ingest.errors import ProfileError
from ingest.formats.snapshot.pickle.handover import (  # fmt: skip
    CONTAINER_BYTES,
    ITEM_BYTES,
    TEXT_BYTES,
    BulkReader,
    Items,
    ListHandover,
    State,
)
from ingest.formats.snapshot.pickle.opcodes import (  # fmt: skip
    APPEND,
    APPENDS,
    ARGUMENT_BYTES,
    BINFLOAT,
    BINGET,
    BININT,
    BININT1,
    BININT2,
    BINPUT,
    CONSTANTS,
    DICT,
    EMPTY_DICT,
    EMPTY_LIST,
    EMPTY_TUPLE,
    FRAME,
    GLOBAL,
    INST,
    LIST,
    LONG1,
    LONG4,
    LONG_BINGET,
    LONG_BINPUT,
    MARK,
    MEMOIZE,
    OPCODES,
    PROTO,
    SETITEM,
    SETITEMS,
    SHORT_TEXT,
    STACK_GLOBAL,
    STOP,
    TEXT,
    TEXT8,
    TUPLE,
    TUPLE1,
    TUPLE2,
    TUPLE3,
    float64,
    int32,
    uint16,
    uint32,
    uint64,
)
from ingest.formats.snapshot.pickle.stream import MARGIN, PickleBytes
from ingest.formats.source import SourceWarning

MAX_HELD_BYTES = 2 << 30  # estimated memory of the values that are not handed over
MAX_DEPTH = 64
MAX_TEXT_BYTES = 16 << 20
MAX_INTEGER_BYTES = 255
SHARED_TEXTS = 65_536  # number of distinct strings that are stored only once
MAX_NUMBERS_AS_KEYS = 1000  # of a dict: numbers, unlike strings, can be chosen to collide
KEYS = frozenset([str, int, float, bool, type(None)])
TEXTS_ALONE = frozenset([str])


class PickleStream:
    """Reader of a pickle, in one pass: iterate `items()`; then `value` has everything else.

    `key`: the lists in the list under this key of the outermost dict are handed over. In `value`
    they are empty. `read_bytes`: size of the decompressed pickle. `warnings`: warnings about the
    file. `progress`: called with the bytes of the file on disk read so far.
    Reading raises ProfileError, which names the file and the byte, for anything but plain data.
    """

    def __init__(
        self,
        path: Path,
        key: str,
        bulk_reader: BulkReader | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.path = path
        self.value: Any = None
        self._key = key
        self._source = PickleBytes(path, progress)
        self.warnings = self._source.warnings
        self._state = State()
        self._lists = ListHandover(self._source, self._state, key, bulk_reader)
        self._texts: dict[bytes, str] = {}

    @property
    def read_bytes(self) -> int:
        """Bytes of the decompressed pickle read so far."""
        return self._source.read_bytes

    def items(self) -> Iterator[Items]:
        """Yield the items of the lists under the key, in file order within each list."""
        self._load(0, 2)
        if self._source.data[:1] != b"\x80":
            raise ProfileError(f"{self.path}: not a pickle of protocol 2 or later")
        end = yield from self._run()
        if excess := self._source.read_on(end):
            message = f"{excess:,} bytes after the end of the pickle were not read"
            self.warnings.append(SourceWarning("bytes_after_end", message))
        yield from self._lists.rest(self.value)

    def _run(self) -> Generator[Items, None, int]:
        """Run the pickle. Return the position after its end in the loaded data."""
        source, state, lists, texts = self._source, self._state, self._lists, self._texts
        stack, marks, memo = state.stack, state.marks, state.memo
        push, memoize, fail = stack.append, memo.append, source.fail
        data, safe, at = source.data, source.safe, 0
        while True:
            if at >= safe:
                at = source.load_opcode(at)
                self._check_held()
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
                mark = self._unmark(at - 1, 1)
                self._set(at - 1, stack[mark - 1], stack[mark:])
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
                    text = self._text(raw)
                push(text)
                at = end
            elif op == EMPTY_LIST:
                push([])
                state.held += CONTAINER_BYTES
            elif op == APPENDS:
                mark = self._unmark(at - 1, 1)
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
                at = self._rare(op, at)
                data, safe = source.data, source.safe
        if len(stack) != 1 or marks:
            fail(at - 1, f"the pickle ends with {len(stack)} values, not one")
        self.value = stack.pop()
        return at

    def _rare(self, op: int, at: int) -> int:
        """Run a rare opcode. Return the position after it."""
        source, state = self._source, self._state
        stack, memo, fail = state.stack, state.memo, source.fail
        start = at - 1
        size = ARGUMENT_BYTES.get(op, 0)
        if op in CONSTANTS:
            stack.append(CONSTANTS[op])
        elif op in (TUPLE1, TUPLE2, TUPLE3):
            count = op - TUPLE1 + 1
            self._require(start, count)
            stack[-count:] = [tuple(stack[-count:])]
            state.held += CONTAINER_BYTES
        elif op == EMPTY_TUPLE:
            stack.append(())
        elif op in (TUPLE, LIST, DICT):
            mark = self._unmark(start, 0)
            if mark == self._lists.open_at:
                fail(start, f"unexpected {OPCODES[op]} inside {self._key}")
            values = stack[mark:]
            made: Any = {} if op == DICT else tuple(values) if op == TUPLE else values
            if op == DICT:
                self._set(start, made, values)
            stack[mark:] = [made]
            state.held += CONTAINER_BYTES + ITEM_BYTES * len(values)
        elif op == APPEND:
            self._require(start, 2)
            item, target = stack.pop(), stack[-1]
            if type(target) is not list:
                fail(start, f"cannot add an item to {kind(target)}")
            target.append(item)
            state.held += ITEM_BYTES
        elif op == SETITEM:
            self._require(start, 3)
            self._set(start, stack[-3], stack[-2:])
            del stack[-2:]
        elif op in (BINPUT, LONG_BINPUT):
            number = source.data[at] if op == BINPUT else uint32(source.data, at)[0]
            if number != len(memo):
                fail(start, f"a value is memoized under number {number:,}, not {len(memo):,}")
            self._require(start, 1)
            memo.append(stack[-1])
        elif op == BINFLOAT:
            stack.append(float64(source.data, at)[0])
        elif op == PROTO:
            if not 2 <= source.data[at] <= 5:
                fail(start, f"unsupported protocol {source.data[at]}; 2 to 5 are supported")
        elif op == FRAME:
            self._length(start, uint64(source.data, at)[0], source.limit)
        elif op in (TEXT, TEXT8, LONG4):
            length: int = (uint64 if op == TEXT8 else uint32)(source.data, at)[0]
            self._length(start, length, MAX_INTEGER_BYTES if op == LONG4 else MAX_TEXT_BYTES)
            at = self._load(at, size + length)
            source.require(at, size + length)
            raw = source.data[at + size : at + size + length]
            is_text = op != LONG4
            stack.append(self._text(raw) if is_text else int.from_bytes(raw, "little", signed=True))
            return at + size + length
        else:
            self._refuse(op, start)
        return at + size

    def _refuse(self, op: int, start: int) -> NoReturn:
        name = OPCODES.get(op)
        if name is None:
            self._source.fail(start, f"unknown opcode 0x{op:02x}")
        what = ""
        if op in (GLOBAL, INST):
            start = self._load(start, MARGIN)
            named = self._source.data[start + 1 : start + 1 + MARGIN].split(b"\n")[:2]
            what = ".".join(part.decode("utf-8", "replace") for part in named)
        elif op == STACK_GLOBAL:
            what = ".".join(part[:MARGIN] for part in self._state.stack[-2:] if type(part) is str)
        what = f" of {what.encode('unicode_escape').decode()}" if what else ""
        self._source.fail(
            start, f"{name}{what} is not plain data; the file was refused, and none of it was run"
        )

    def _set(self, start: int, target: Any, values: list[Any]) -> None:
        if type(target) is not dict:
            self._source.fail(start, f"cannot set keys of {kind(target)}")
        if len(values) % 2:
            self._source.fail(start, "a key without a value")
        keys = values[::2]
        kinds = set(map(type, keys))
        if not kinds <= TEXTS_ALONE:
            for key in keys:
                if type(key) not in KEYS:
                    self._source.fail(start, f"{kind(key)} as a key")
            if len(target) + len(keys) > MAX_NUMBERS_AS_KEYS:
                most = f"{MAX_NUMBERS_AS_KEYS:,}"
                self._source.fail(start, f"more than {most} keys, not all of which are strings")
        target.update(zip(keys, values[1::2], strict=True))
        self._state.held += ITEM_BYTES * len(values)

    def _text(self, raw: bytes) -> str:
        """Return the string, the same object for equal bytes. Replace bytes that are not UTF-8."""
        text = raw.decode("utf-8", "replace")
        if len(raw) < 256:
            if len(self._texts) >= SHARED_TEXTS:
                self._texts.clear()
            self._texts[raw] = text
        self._state.held_texts += TEXT_BYTES + len(raw)
        return text

    def _unmark(self, start: int, below: int) -> int:
        """Remove the last mark and return its position. Require `below` values before it."""
        if not self._state.marks:
            self._source.fail(start, "no MARK on the stack")
        mark = self._state.marks.pop()
        if mark - (self._state.marks[-1] if self._state.marks else 0) < below:
            self._source.fail(start, "too few values on the stack")
        return mark

    def _require(self, start: int, count: int) -> None:
        if len(self._state.stack) - (self._state.marks[-1] if self._state.marks else 0) < count:
            self._source.fail(start, "too few values on the stack")

    def _length(self, start: int, length: int, most: int) -> None:
        if length > most:
            self._source.fail(start, f"a length of {length:,} bytes, more than {most:,}")

    def _load(self, at: int, size: int) -> int:
        at = self._source.load(at, size)
        self._check_held()
        return at

    def _check_held(self) -> None:
        state = self._state
        held = state.held + state.held_texts + 16 * len(state.memo) + 40 * len(state.stack)
        if held > MAX_HELD_BYTES:
            limit = f"{MAX_HELD_BYTES >> 20:,} MiB"
            self._source.fail(0, f"more than {limit} of values outside {self._key}")


def kind(value: Any) -> str:
    """Return the type of a value as text with an article: `a string`."""
    names = {str: "a string", int: "an integer", float: "a float", bool: "a bool"}
    names |= {list: "a list", tuple: "a tuple", dict: "a dict", type(None): "None"}
    return names.get(type(value), "a second reference to a list item")
