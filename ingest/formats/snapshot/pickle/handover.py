"""Items of long lists, handed over while the pickle that they stand in is being read."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from ingest.errors import ProfileError
from ingest.formats.snapshot.pickle.stream import PickleBytes

ITEMS_AT_ONCE = 8192
MAX_LISTS = 4096
CONTAINER_BYTES, ITEM_BYTES, TEXT_BYTES = 72, 48, 60  # what each takes, about


class HandedOver:
    """Stands in the memo for an item that was handed over."""


HANDED_OVER = HandedOver()


@dataclass(slots=True)
class State:
    """What a pickle is building: values on a stack, with marks between them, and those kept.

    `held`: an estimate of the bytes that the values take, strings aside, which are `held_texts`.
    """

    stack: list[Any] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    memo: list[Any] = field(default_factory=list)
    held: int = 0
    held_texts: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """Items that were read at one go: `count` of them, up to byte `end` of the data at hand.

    `columns` is what was made of them, `held_bytes` how much more is held for good.
    """

    end: int
    count: int
    columns: Any
    held_bytes: int


class Lane(Protocol):
    """A faster way through items that all look alike."""

    def run(self, data: bytes, at: int, memo: list[Any]) -> Run | None:
        """The items that begin at `at`, the memo extended by theirs; None: read one the long way.

        What it makes of them, and of the memo, is what the machine would.
        """

    def learn(self, item: bytes, memo: list[Any]) -> None:
        """Shows it an item that was read the long way."""


@dataclass(frozen=True, slots=True)
class Items:
    """Consecutive items of list `index` under the key, from its item `first` on.

    `values`, or `count` of them in `columns` as a lane made them.
    """

    index: int
    first: int
    values: list[Any]
    columns: Any = None
    count: int = 0


class HandingOver:
    """Takes the items of the lists in the list under the key from the stack.

    `open_at`: where on the stack the items of the list begin that is being read; -1: of none.
    `ready`: what is to be handed over next.
    """

    def __init__(self, source: PickleBytes, state: State, key: str, lane: Lane | None) -> None:
        self.open_at = -1
        self.ready: list[Items] = []
        self._source, self._state, self._key, self._lane = source, state, key, lane
        self._lists: dict[int, list[Any]] = {}  # under the key: [the list, items handed over]
        self._index = 0  # of the list that is being read
        self._pending: list[Any] = []
        self._began, self._began_in = 0, b""  # of the item being read: its place, in what data
        self._memo_at = self._held_at = 0  # of the item being read: what there was before it
        self._shared: dict[tuple[Any, ...], Any] = {}
        self._looked_at = 0

    def open(self, start: int) -> None:
        """Items are going to be added to the list on top of the stack: of the key, perhaps."""
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
        """At `at` a dict begins, with at most one item before it. Returns where to go on."""
        stack, memo, data = self._state.stack, self._state.memo, self._source.data
        if len(stack) > self.open_at and type(stack[-1]) is dict:
            self._pending.append(stack.pop())
            self._settle(self._pending[-1])
            if self._lane and data is self._began_in:
                self._lane.learn(data[self._began : at], memo)
        if len(stack) == self.open_at:
            run = self._lane.run(data, at, memo) if self._lane else None
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
        """No further items for now."""
        items = self._state.stack[self.open_at :]
        if items:
            self._settle(items[-1])
        self._hand_over(self._pending + items)
        self._pending, self.open_at = [], -1

    def rest(self, value: Any) -> Iterator[Items]:
        """What came to the lists in other ways; and a check that they are where they belong."""
        found = value.get(self._key) if type(value) is dict else None
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
            where = f"{self._key}[{min(self._lists)}]"
            raise ProfileError(f"{where} is not the list that was read for it")

    def _begin(self, at: int) -> None:
        self._began, self._began_in = at, self._source.data
        self._memo_at, self._held_at = len(self._state.memo), self._state.held

    def _hand_over(self, values: list[Any]) -> None:
        known = self._lists[self._index]
        self.ready.append(Items(self._index, known[1], values))
        known[1] += len(values)

    def _index_under_key(self) -> int:
        """Which of the lists under the key the list on top of the stack is going to be, or -1."""
        stack, marks = self._state.stack, self._state.marks
        place = len(stack) - 1
        mark = marks[-2] if len(marks) > 1 else 0
        for outer in (mark - 1, place - 1):  # it has siblings before it, or it is alone
            if 1 <= outer < place and type(stack[outer]) is list and stack[outer - 1] == self._key:
                return len(stack[outer]) + place - outer - 1
        return -1

    def _settle(self, item: Any) -> None:
        """Lets go of an item: in the memo remains what later items may refer to, each once."""
        memo = self._state.memo
        kept = False
        for number in range(self._memo_at, len(memo)):
            value = memo[number]
            if value is item:
                memo[number] = HANDED_OVER
            elif type(value) is list:
                self._looked_at += len(value)
                if self._looked_at > self._source.read_bytes:  # each part took a byte at least
                    self._source.fail(0, "the same lists are kept over and over")
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
    """Two small integers, as of a memory pool. Large ones could be made to have equal hashes."""
    return len(value) == 2 and all(type(part) is int and 0 <= part < 2**31 for part in value)
