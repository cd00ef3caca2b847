"""The texts, stacks and pools that the events of the fast lane have, or refer to."""

from typing import Any

import numpy as np

from ingest.errors import ProfileError
from ingest.formats.snapshot.pickle.bulk_decoder import ABSENT, Integers, LaneDecoder
from ingest.formats.snapshot.pickle.handover import (  # fmt: skip
    CONTAINER_BYTES,
    HANDED_OVER,
    ITEM_BYTES,
    TEXT_BYTES,
    is_pair,
)
from ingest.formats.snapshot.pickle.opcodes import BINGET, uint32
from ingest.formats.snapshot.stacks import StacksOfFile

TEXT_KIND, LIST_KIND, POOL_KIND = 1, 2, 3
OTHER = 0  # the id of what no event refers to


class Misfit(Exception):
    """Event `row` of a run refers to what is not there, or not what belongs there."""

    def __init__(self, row: int) -> None:
        self.row = row


class Objects:
    """Each text, list of frames and pool has an id: four times its place here plus its kind.

    `held`: an estimate of the bytes that they take.
    """

    def __init__(self, stacks: StacksOfFile) -> None:
        self.held = 0
        self._stacks = stacks
        self._objects: list[Any] = [HANDED_OVER]
        self._ids: dict[Any, int] = {}  # of texts, pools, and lists by their references
        self._ids_in_memo: dict[int, int] = {}  # of lists in the memo, by identity
        self._stack_ids: dict[int, int | None] = {}  # by the id of the list
        self._unread: dict[int, bytes] = {}  # lists of which only the references are known

    def values(self, ids: list[int]) -> list[Any]:
        """The objects themselves."""
        objects = self._objects
        return [objects[id_ >> 2] for id_ in ids]

    def shown(self, id_: int) -> Any:
        """A text, the id of a stack, or a pool as torch prints it."""
        if id_ & 3 == LIST_KIND:
            return self._stack_ids[id_]
        value = self._objects[id_ >> 2]
        return value if id_ & 3 == TEXT_KIND else f"({value[0]}, {value[1]})"

    def forget_unread(self) -> None:
        """Forgets the lists that have not been read: the references are of earlier data."""
        self._unread.clear()

    def id_of(self, value: Any, kind: int) -> int:
        """The id of a text or pool, of which there is one each."""
        id_ = self._ids.get(value)
        if id_ is None:
            id_ = self._ids[value] = 4 * len(self._objects) + kind
            self._objects.append(value)
            self.held += TEXT_BYTES + len(value)
        return id_

    def in_memo(self, value: Any) -> int:
        """The id of what stands in the memo; OTHER for what no event can refer to."""
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

    def texts(self, decoder: LaneDecoder, data: bytes, places: Integers) -> Integers:
        """The ids of texts, each preceded by its length."""
        words = decoder.words(places)
        lengths = words & np.uint64(0xFF)
        spare = np.uint64(8) * (np.uint64(7) - np.minimum(lengths, np.uint64(7)))
        is_short = lengths < 8  # it is in the word as a whole
        ids = np.empty(len(places), np.int64)
        found, inverse = np.unique((words << spare >> spare)[is_short], return_inverse=True)
        raws = [word.to_bytes(8, "little") for word in found.tolist()]
        ids[is_short] = np.array([self._text(raw, 0) for raw in raws], np.int64)[inverse]
        long = places[~is_short].tolist()
        ids[~is_short] = [self._text(data, place) for place in long]
        return ids

    def _text(self, data: bytes, place: int) -> int:
        raw = data[place + 1 : place + 1 + data[place]]
        return self.id_of(raw.decode("utf-8", "replace"), TEXT_KIND)

    def pools(self, firsts: Integers, seconds: Integers) -> Integers:
        """The ids of pools, pairs of numbers."""
        pairs, inverse = np.unique(firsts << 31 | seconds, return_inverse=True)
        known = [self.id_of(divmod(pair, 1 << 31), POOL_KIND) for pair in pairs.tolist()]
        return np.array(known, np.int64)[inverse]

    def lists(self, data: bytes, places: Integers, stops: Integers) -> Integers:
        """The ids of lists, by their references: these mean the same for good."""
        ids = self._ids
        raws = [data[a:b] for a, b in zip(places.tolist(), stops.tolist(), strict=True)]
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
        """Reads those lists of a column of which only the references are known."""
        if not self._unread:
            return
        for id_ in (-2 - np.unique(numbers[(numbers < 0) & (numbers != ABSENT)])).tolist():
            raw = self._unread.get(id_)
            if raw is None:
                continue
            row = int(np.flatnonzero(numbers == -2 - id_)[0])
            values, place = [], 0
            while place < len(raw):
                is_short = raw[place] == BINGET
                number = raw[place + 1] if is_short else uint32(raw, place + 1)[0]
                if number >= len(memo):
                    raise Misfit(row)
                values.append(memo[number])
                place += 2 if is_short else 5
            try:
                self._stack_ids[id_] = self._stacks.stack_id(values, "")
            except ProfileError:
                raise Misfit(row) from None
            self._objects[id_ >> 2] = values
            del self._unread[id_]
