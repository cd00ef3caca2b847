"""Handing over of the items of long lists while the pickle is being read."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from ingest.errors import ProfileError
from ingest.formats.pickle.stream import PickleBytes

ITEMS_AT_ONCE = 8192
MAX_LISTS = 4096
CONTAINER_BYTES, ITEM_BYTES, TEXT_BYTES = 72, 48, 60  # approximate memory of each


class HandedOver:
    """Replaces an item in the memo after it was handed over."""


HANDED_OVER = HandedOver()


@dataclass(slots=True)
class State:
    """The values that a pickle is building: a stack, marks in the stack, and the memo.

    `held`: an estimate of the bytes that the values take, without strings. `held_texts`: the same
    for strings.
    """

    stack: list[Any] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    memo: list[Any] = field(default_factory=list)
    held: int = 0
    held_texts: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """Items that were read in bulk: `count` of them, up to byte `end` of the loaded data.

    `columns`: their values. `held_bytes`: the memory that stays in use because of them.
    """

    end: int
    count: int
    columns: Any
    held_bytes: int


class BulkReader(Protocol):
    """A faster reader for items that have the same layout."""

    def run(self, data: bytes, at: int, memo: list[Any]) -> Run | None:
        """Read the items from `at`, and extend the memo. Return None if the machine must do so.

        The items and the memo must be the same as if the machine had read them.
        """

    def learn(self, item: bytes, memo: list[Any]) -> None:
        """Learn from an item that the machine has read."""


@dataclass(frozen=True, slots=True)
class Items:
    """Consecutive items of list `index` under the key, from its item number `first`.

    They are in `values`. Those read in bulk are in `columns`, and `count` is their number.
    """

    index: int
    first: int
    values: list[Any]
    columns: Any = None
    count: int = 0


class ListHandover:
    """Removal of the items of the lists under the key from the stack.

    `open_at`: the position on the stack of the first item of the list that is being read; -1 if
    there is none. `ready`: the items that can be handed over.
    """

    def __init__(
        self, source: PickleBytes, state: State, key: str | None, bulk_reader: BulkReader | None
    ) -> None:
        self.open_at = -1
        self.ready: list[Items] = []
        self._source, self._state, self._key, self._bulk_reader = source, state, key, bulk_reader
        self._lists: dict[int, list[Any]] = {}  # by index: [the list, number of items handed over]
        self._index = 0  # of the list that is being read
        self._pending: list[Any] = []
        self._began, self._began_in = 0, b""  # start of the item being read, and the data it is in
        self._memo_at = self._held_at = 0  # length of the memo, and `held`, before that item
        self._shared: dict[tuple[Any, ...], Any] = {}
        self._looked_at = 0

    def open(self, start: int) -> None:
        """Note that items follow for the list on top of the stack, if it is under the key."""
        index = self._index_under_key()
        if index < 0:
            return
        items = self._state.stack[-1]
        if index >= MAX_LISTS:
            self._source.fail(start, f"more than {MAX_LISTS:,} lists in {self._key}")
        known = self._lists.setdefault(index, [items, 0])
        if known[0] is not items or items:
            self._source.fail(start, f"a second list for {self._key}[{index}]")
        self._index, self.open_at = index, len(self._state.stack)
        self._begin(start)

    def next(self, at: int) -> int:
        """Take the item before the dict that begins at `at`, and read in bulk from there.

        Return the position at which to continue.
        """
        stack, memo, data = self._state.stack, self._state.memo, self._source.data
        if len(stack) > self.open_at and type(stack[-1]) is dict:
            self._pending.append(stack.pop())
            self._settle(self._pending[-1])
            if self._bulk_reader and data is self._began_in:
                self._bulk_reader.learn(data[self._began : at], memo)
        if len(stack) == self.open_at:
            run = self._bulk_reader.run(data, at, memo) if self._bulk_reader else None
            if run or len(self._pending) >= ITEMS_AT_ONCE:
                self._hand_over(self._pending)
                self._pending = []
            if run:
                known = self._lists[self._index]
                self.ready.append(Items(self._index, known[1], [], run.columns, run.count))
                known[1] += run.count
                self._state.held += run.held_bytes
                at = run.end
            self._begin(at)
        return at

    def close(self) -> None:
        """Note that the list has no further items for now."""
        items = self._state.stack[self.open_at :]
        if items:
            self._settle(items[-1])
        self._hand_over(self._pending + items)
        self._pending, self.open_at = [], -1

    def rest(self, value: Any) -> Iterator[Items]:
        """Yield the items that were added in other ways, after the pickle has ended.

        Raise ProfileError if a list is not at the index for which it was read.
        """
        found = value.get(self._key) if self._key and type(value) is dict else None
        for index, items in enumerate(found if type(found) is list else []):
            if index >= MAX_LISTS:
                raise ProfileError(f"more than {MAX_LISTS:,} lists in {self._key}")
            known, count = self._lists.pop(index, (items, 0))
            if known is not items:
                self._lists[index] = [known, count]
                break
            if type(items) is list and items:
                for first in range(0, len(items), ITEMS_AT_ONCE):
                    yield Items(index, count + first, items[first : first + ITEMS_AT_ONCE])
                items.clear()
        if self._lists:
            moved = f"{self._key}[{min(self._lists)}]"
            raise ProfileError(f"{moved} was replaced after it had been read")

    def _begin(self, at: int) -> None:
        self._began, self._began_in = at, self._source.data
        self._memo_at, self._held_at = len(self._state.memo), self._state.held

    def _hand_over(self, values: list[Any]) -> None:
        known = self._lists[self._index]
        self.ready.append(Items(self._index, known[1], values))
        known[1] += len(values)

    def _index_under_key(self) -> int:
        """Return the index that the list on top of the stack will have under the key, or -1."""
        if self._key is None:
            return -1
        stack, marks = self._state.stack, self._state.marks
        top = len(stack) - 1
        mark = marks[-2] if len(marks) > 1 else 0
        for outer in (mark - 1, top - 1):  # with lists before it, or alone
            if 1 <= outer < top and type(stack[outer]) is list and stack[outer - 1] == self._key:
                return len(stack[outer]) + top - outer - 1
        return -1

    def _settle(self, item: Any) -> None:
        """Release an item. The memo keeps one copy of each value that later items may refer to."""
        memo = self._state.memo
        kept = False
        for number in range(self._memo_at, len(memo)):
            value = memo[number]
            if value is item:
                memo[number] = HANDED_OVER
            elif type(value) is list:
                self._looked_at += len(value)
                if self._looked_at > self._source.read_bytes:  # each item takes at least a byte
                    self._source.fail(0, "the same lists are memoized over and over")
                shared = self._shared.setdefault((list, *map(id, value)), value)
                kept |= shared is value
                memo[number] = shared
            elif type(value) is tuple and is_pair(value):
                memo[number] = self._shared.setdefault(value, value)
            else:
                kept |= type(value) is not str
        if not kept:
            self._state.held = self._held_at


def is_pair(value: tuple[Any, ...]) -> bool:
    """Return whether a tuple is two small integers, like a memory pool.

    Large integers are excluded: an attacker could choose them to have equal hashes.
    """
    return len(value) == 2 and all(type(part) is int and 0 <= part < 2**31 for part in value)
