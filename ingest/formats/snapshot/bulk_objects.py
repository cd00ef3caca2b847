"""The texts, stacks and pools of events that are read in bulk."""

from typing import Any

import numpy as np

from ingest.errors import ProfileError
from ingest.formats.pickle.handover import (  # fmt: skip
    CONTAINER_BYTES,
    HANDED_OVER,
    ITEM_BYTES,
    TEXT_BYTES,
    is_pair,
)
from ingest.formats.pickle.opcodes import BINGET, uint32
from ingest.formats.snapshot.bulk_decoder import ABSENT, BulkDecoder, Integers
from ingest.formats.stacks import StacksOfFile

TEXT_KIND, LIST_KIND, POOL_KIND = 1, 2, 3
OTHER = 0  # the id of all values that no event refers to


class Misfit(Exception):
    """Event `row` of a run refers to a missing value, or to one of the wrong kind."""

    def __init__(self, row: int) -> None:
        self.row = row


class Objects:
    """The texts, lists of frames and pools. An id is four times the index plus the kind.

    `held`: an estimate of the bytes that the objects take.
    """

    def __init__(self, stacks: StacksOfFile) -> None:
        self.held = 0
        self._stacks = stacks
        self._objects: list[Any] = [HANDED_OVER]
        self._ids: dict[Any, int] = {}  # of texts, pools, and lists by their references
        self._ids_in_memo: dict[int, int] = {}  # of lists in the memo, by identity
        self._stack_ids: dict[int, int | None] = {}  # by the id of the list
        self._unread: dict[int, bytes] = {}  # the references of lists that have not been resolved

    def values(self, ids: list[int]) -> list[Any]:
        """Return the objects with these ids."""
        objects = self._objects
        return [objects[id_ >> 2] for id_ in ids]

    def shown(self, id_: int) -> Any:
        """Return the value to show: a text, the id of a stack, or a pool in the form of torch."""
        if id_ & 3 == LIST_KIND:
            return self._stack_ids[id_]
        value = self._objects[id_ >> 2]
        return value if id_ & 3 == TEXT_KIND else f"({value[0]}, {value[1]})"

    def forget_unread(self) -> None:
        """Forget unresolved lists: their references belong to earlier data."""
        self._unread.clear()

    def id_of(self, value: Any, kind: int) -> int:
        """Return the id of a text or pool. Equal values have the same id."""
        id_ = self._ids.get(value)
        if id_ is None:
            id_ = self._ids[value] = 4 * len(self._objects) + kind
            self._objects.append(value)
            self.held += TEXT_BYTES + len(value)
        return id_

    def in_memo(self, value: Any) -> int:
        """Return the id of a value of the memo, or OTHER if no event can refer to it."""
        if type(value) is str:
            return self.id_of(value, TEXT_KIND)
        if type(value) is tuple and is_pair(value):
            return self.id_of(value, POOL_KIND)
        if type(value) is not list:
            return OTHER
        id_ = self._ids_in_memo.get(id(value))
        if id_ is None:
            try:
                stack_id = self._stacks.stack_id(value, "")
            except ProfileError:
                return OTHER
            id_ = self._ids_in_memo[id(value)] = 4 * len(self._objects) + LIST_KIND
            self._objects.append(value)
            self._stack_ids[id_] = stack_id
        return id_

    def texts(self, decoder: BulkDecoder, data: bytes, positions: Integers) -> Integers:
        """Return the ids of texts, each of which begins with its length in one byte."""
        words = decoder.words(positions)
        lengths = words & np.uint64(0xFF)
        spare = np.uint64(8) * (np.uint64(7) - np.minimum(lengths, np.uint64(7)))
        is_short = lengths < 8  # the word contains the text
        ids = np.empty(len(positions), np.int64)
        found, inverse = np.unique((words << spare >> spare)[is_short], return_inverse=True)
        raws = [word.to_bytes(8, "little") for word in found.tolist()]
        ids[is_short] = np.array([self._text(raw, 0) for raw in raws], np.int64)[inverse]
        long = positions[~is_short].tolist()
        ids[~is_short] = [self._text(data, position) for position in long]
        return ids

    def _text(self, data: bytes, position: int) -> int:
        raw = data[position + 1 : position + 1 + data[position]]
        return self.id_of(raw.decode("utf-8", "replace"), TEXT_KIND)

    def pools(self, firsts: Integers, seconds: Integers) -> Integers:
        """Return the ids of pools, pairs of numbers."""
        pairs, inverse = np.unique(firsts << 31 | seconds, return_inverse=True)
        known = [self.id_of(divmod(pair, 1 << 31), POOL_KIND) for pair in pairs.tolist()]
        return np.array(known, np.int64)[inverse]

    def lists(self, data: bytes, positions: Integers, stops: Integers) -> Integers:
        """Return the ids of lists. Equal references always mean equal lists."""
        ids = self._ids
        raws = [data[a:b] for a, b in zip(positions.tolist(), stops.tolist(), strict=True)]
        found = list(map(ids.get, raws))
        if not set(found) <= self._stack_ids.keys():
            for row, (raw, id_) in enumerate(zip(raws, found, strict=True)):
                if id_ not in self._stack_ids:
                    if (id_ := ids.get(raw)) is None:
                        id_ = ids[raw] = 4 * len(self._objects) + LIST_KIND
                        self._objects.append(HANDED_OVER)
                        self.held += CONTAINER_BYTES + ITEM_BYTES * len(raw) // 2
                    self._unread[id_] = raw
                    found[row] = id_
        return np.array(found, np.int64)

    def read_lists(self, numbers: Integers, memo: list[Any]) -> None:
        """Resolve the references of a column's lists, unless that has been done."""
        if not self._unread:
            return
        for id_ in (-2 - np.unique(numbers[(numbers < 0) & (numbers != ABSENT)])).tolist():
            raw = self._unread.get(id_)
            if raw is None:
                continue
            row = int(np.flatnonzero(numbers == -2 - id_)[0])
            values, position = [], 0
            while position < len(raw):
                is_short = raw[position] == BINGET
                number = raw[position + 1] if is_short else uint32(raw, position + 1)[0]
                if number >= len(memo):
                    raise Misfit(row)
                values.append(memo[number])
                position += 2 if is_short else 5
            try:
                self._stack_ids[id_] = self._stacks.stack_id(values, "")
            except ProfileError:
                raise Misfit(row) from None
            self._objects[id_ >> 2] = values
            del self._unread[id_]
