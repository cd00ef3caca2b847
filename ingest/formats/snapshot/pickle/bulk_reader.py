"""A fast lane for the events of a memory snapshot: many at a time, with numpy.

Events of a trace are pickled alike: the same keys in the same order, each a reference to a string
that was met before, and values of few kinds. From events read the long way the lane learns such
orders, its layouts. In what is at hand of the pickle it then looks for places where an event may
begin, and decoder through all of them together, key by key and value by value. Where every byte is
as a layout has it, there is an event, and its end is known. The machine stands at the start of an
event; if that is one of these places, it and all that follow without a gap are as the machine
would read them. Anything else, such as an event with the header of a frame in its midst, or with
a value of another kind, is left to the machine.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ingest.errors import ProfileError
from ingest.formats.snapshot.pickle.bulk_decoder import ABSENT, Integers, LaneDecoder
from ingest.formats.snapshot.pickle.handover import (  # fmt: skip
    CONTAINER_BYTES,
    HANDED_OVER,
    ITEM_BYTES,
    TEXT_BYTES,
    Run,
    is_pair,
)
from ingest.formats.snapshot.pickle.layouts import (
    INTEGERS,
    LISTS,
    POOL,
    TEXTS,
    Layout,
    decoded,
    layout_of,
)
from ingest.formats.snapshot.pickle.opcodes import BINGET, uint32
from ingest.formats.snapshot.records import bounded
from ingest.formats.snapshot.stacks import StacksOfFile

TEXT_KIND, LIST_KIND, POOL_KIND = 1, 2, 3
KINDS = dict.fromkeys(TEXTS, TEXT_KIND) | dict.fromkeys(LISTS, LIST_KIND) | {POOL: POOL_KIND}
OTHER, UNKNOWN = 0, -1  # ids of what no event refers to, and of what was not looked at
MAX_LAYOUTS = 8
MAX_MISFITS = 200
LESSONS = 256  # a look at one event takes as long as reading many
MIN_RUN = 4  # fewer are sooner read the long way
FRAME_ZEROS = bytes(5)  # in the length of a frame; what has them is not worth a look

Found = dict[str, Integers]


class Misfit(Exception):
    """Event `row` of a run refers to what is not there, or not what belongs there."""

    def __init__(self, row: int) -> None:
        self.row = row


class EventLane:
    """Reads runs of events. Their columns, by key, are numbers or ids; `arrays` has the values.

    Each text, list of frames and pool that events have or refer to is an object with an id, four
    times its place among the objects plus its kind.
    """

    def __init__(self, stacks: StacksOfFile) -> None:
        self._stacks = stacks
        self._layouts: list[Layout] = []
        self._misfits = 0
        self._seen = 0  # events read the long way
        self._held = 0
        self._data = b""
        self._starts = self._ends = self._breaks = np.empty(0, np.int64)
        self._found: Found = {}
        self._objects: list[Any] = [HANDED_OVER]
        self._ids: dict[Any, int] = {}  # of texts, pools, and lists by their references
        self._ids_in_memo: dict[int, int] = {}  # of lists in the memo, by identity
        self._stack_ids: dict[int, int | None] = {}  # by the id of the list
        self._unread: dict[int, bytes] = {}  # lists of which only the references are known
        self._memo_ids = np.full(1024, UNKNOWN, np.int32)
        self._known = 0  # how much of the memo they have been kept up with

    def learn(self, item: bytes, memo: list[Any]) -> None:
        """Takes the layout of an event that was read the long way, if it has one."""
        self._seen += 1
        is_worth_it = len(self._layouts) < MAX_LAYOUTS and self._misfits < MAX_MISFITS
        is_turn = self._seen < LESSONS or self._seen % 64 == 0
        if is_worth_it and is_turn and FRAME_ZEROS not in item:
            layout = layout_of(item, memo)
            if layout and layout not in self._layouts:
                self._layouts.append(layout)
                self._data = b""

    def run(self, data: bytes, at: int, memo: list[Any]) -> Run | None:
        """The events from `at` on, the memo extended by theirs; None: one is to be read first."""
        if not self._layouts:
            return None
        if data is not self._data:
            self._look_ahead(data, at)
        first = int(self._starts.searchsorted(at))
        if first == len(self._starts) or self._starts[first] != at:
            return None
        last = int(self._breaks[self._breaks.searchsorted(first, "right")])
        while last - first >= MIN_RUN:
            try:
                return self._read(first, last, memo)
            except Misfit as misfit:
                last = first + misfit.row
                self._misfits += 1
                if self._misfits >= MAX_MISFITS:
                    self._layouts = []
        return None

    def arrays(self, runs: Sequence[Found], counts: Sequence[int]) -> dict[str, pa.Array]:
        """The columns of runs of so many events, null where a key is missing.

        `frames` and `forward_frames` are ids of stacks, `pool_id` is as torch prints it.
        """
        arrays = {}
        for key in (*INTEGERS, *KINDS):
            if not any(key in run for run in runs):
                continue
            values = np.concatenate(
                [
                    run[key] if key in run else np.full(count, ABSENT, np.int64)
                    for run, count in zip(runs, counts, strict=True)
                ]
            )
            if key in INTEGERS:
                mask = values == ABSENT
                values = values.view(np.uint64) if key == "addr" else values
                arrays[key] = pa.array(values, mask=mask)
                continue
            ids, places, counts_of = np.unique(values, return_inverse=True, return_counts=True)
            each = [None if id_ == ABSENT else self._shown(id_) for id_ in ids.tolist()]
            if key in TEXTS:
                lengths = [len(text or "") for text in each]
                bounded(int(np.dot(lengths, counts_of)), key)
            type_ = pa.int32() if key in LISTS else pa.string()
            arrays[key] = pa.array(each, type_).take(pa.array(places))
        return arrays

    def _shown(self, id_: int) -> Any:
        if id_ & 3 == LIST_KIND:
            return self._stack_ids[id_]
        value = self._objects[id_ >> 2]
        return value if id_ & 3 == TEXT_KIND else f"({value[0]}, {value[1]})"

    def _look_ahead(self, data: bytes, at: int) -> None:
        """Finds all that looks like an event from `at` on."""
        decoder = LaneDecoder(data)
        heads = {prefix + fields[0][0] for prefix, fields in self._layouts}
        starts = np.unique(np.concatenate([decoder.find(head, at) for head in heads]))
        ends = np.full(len(starts), -1, np.int64)
        found: Found = {"memoised": np.zeros(len(starts), np.int64)}
        for layout in self._layouts:
            todo = np.flatnonzero(ends < 0)
            places, columns = decoded(decoder, layout, starts[todo])
            fits = places >= 0
            ends[todo[fits]] = places[fits]
            for name, values in columns.items():
                if name not in found:
                    found[name] = np.full(len(starts), ABSENT, np.int64)
                found[name][todo[fits]] = values[fits]
        fits = ends >= 0
        self._starts, self._ends = starts[fits], ends[fits]
        self._found = {name: values[fits] for name, values in found.items()}
        gaps = np.flatnonzero(self._ends[:-1] != self._starts[1:]) + 1
        self._breaks = np.append(gaps, len(self._ends))
        self._data = data
        self._unread.clear()
        for key in KINDS.keys() & self._found.keys():
            numbers = self._found[key]
            fresh = np.flatnonzero((numbers < 0) & (numbers != ABSENT))
            places, more = -1 - numbers[fresh], self._found[f"{key} more"][fresh]
            if key in TEXTS:
                ids = self._ids_of_texts(decoder, places)
            elif key in LISTS:
                ids = self._ids_of_lists(places, more)
            else:
                pairs, inverse = np.unique(places << 31 | more, return_inverse=True)
                known = [self._id(divmod(pair, 1 << 31), POOL_KIND) for pair in pairs.tolist()]
                ids = np.array(known, np.int64)[inverse]
            numbers[fresh] = -2 - ids

    def _read(self, first: int, last: int, memo: list[Any]) -> Run:
        """The events from number `first` up to `last` of those that were found."""
        rows = {name: values[first:last] for name, values in self._found.items()}
        columns = {key: rows[key] for key in INTEGERS if key in rows}
        before, held = len(memo), self._held
        lengths = before + np.cumsum(rows["memoised"])  # of the memo, after each event
        after = int(lengths[-1])
        known = self._up_to(before, after)
        for key in KINDS.keys() & rows.keys():
            numbers = rows[key]
            seen = lengths - rows["memoised"] + rows[f"{key} seen"]
            ahead = np.flatnonzero((numbers != ABSENT) & (numbers >= seen))
            if len(ahead):
                raise Misfit(int(ahead[0]))
            if key in LISTS and self._unread:
                self._read_lists(numbers, memo)
            kept = rows[f"{key} kept"] == 1
            known[seen[kept]] = -2 - numbers[kept]
        for key in KINDS.keys() & rows.keys():
            columns[key] = self._ids_of(key, rows[key], memo, known)
        objects = self._objects
        memo += [objects[id_ >> 2] for id_ in known[before:after].tolist()]
        self._known = after
        return Run(int(self._ends[last - 1]), last - first, columns, self._held - held)

    def _up_to(self, before: int, after: int) -> Any:
        """The ids of the memo, with what the machine added to it, and room for a run's."""
        if after > len(self._memo_ids):
            room = np.full(after, UNKNOWN, np.int32)
            self._memo_ids = np.concatenate([self._memo_ids, room])
        self._memo_ids[self._known : before] = UNKNOWN
        self._memo_ids[before:after] = OTHER
        self._known = before
        return self._memo_ids

    def _ids_of(self, key: str, numbers: Integers, memo: list[Any], known: Any) -> Integers:
        """The ids of a column's values, written out or referred to."""
        is_reference = numbers >= 0
        referred = np.where(is_reference, numbers, 0)
        ids = np.where(is_reference, known[referred], -2 - numbers)
        unknown = np.flatnonzero(is_reference & (ids == UNKNOWN))
        if len(unknown):
            for number in np.unique(numbers[unknown]).tolist():
                known[number] = self._id_in_memo(memo[number])
            ids[unknown] = known[numbers[unknown]]
        is_absent = numbers == ABSENT
        wrong = np.flatnonzero(((ids & 3) != KINDS[key]) & ~is_absent)
        if len(wrong):
            raise Misfit(int(wrong[0]))
        ids[is_absent] = ABSENT
        return ids

    def _id(self, value: Any, kind: int) -> int:
        """The id of a text or pool, of which there is one each."""
        id_ = self._ids.get(value)
        if id_ is None:
            id_ = self._ids[value] = 4 * len(self._objects) + kind
            self._objects.append(value)
            self._held += TEXT_BYTES + len(value)
        return id_

    def _id_in_memo(self, value: Any) -> int:
        if type(value) is str:
            return self._id(value, TEXT_KIND)
        if type(value) is tuple and is_pair(value):
            return self._id(value, POOL_KIND)
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

    def _ids_of_texts(self, decoder: LaneDecoder, places: Integers) -> Integers:
        """The ids of texts, each preceded by its length."""
        words = decoder.words(places)
        lengths = words & np.uint64(0xFF)
        spare = np.uint64(8) * (np.uint64(7) - np.minimum(lengths, np.uint64(7)))
        is_short = lengths < 8  # it is in the word as a whole
        ids = np.empty(len(places), np.int64)
        found, inverse = np.unique((words << spare >> spare)[is_short], return_inverse=True)
        raws = [word.to_bytes(8, "little") for word in found.tolist()]
        ids[is_short] = np.array([self._id_of_text(raw, 0) for raw in raws], np.int64)[inverse]
        long = places[~is_short].tolist()
        ids[~is_short] = [self._id_of_text(self._data, place) for place in long]
        return ids

    def _id_of_text(self, data: bytes, place: int) -> int:
        raw = data[place + 1 : place + 1 + data[place]]
        return self._id(raw.decode("utf-8", "replace"), TEXT_KIND)

    def _ids_of_lists(self, places: Integers, stops: Integers) -> Integers:
        """The ids of lists, by their references: these mean the same for good."""
        data, ids = self._data, self._ids
        raws = [data[a:b] for a, b in zip(places.tolist(), stops.tolist(), strict=True)]
        found = list(map(ids.get, raws))
        if not set(found) <= self._stack_ids.keys():
            for row, (raw, id_) in enumerate(zip(raws, found, strict=True)):
                if id_ not in self._stack_ids:
                    if (id_ := ids.get(raw)) is None:
                        id_ = ids[raw] = 4 * len(self._objects) + LIST_KIND
                        self._objects.append(HANDED_OVER)
                        self._held += CONTAINER_BYTES + ITEM_BYTES * len(raw) // 2
                    self._unread[id_] = raw
                    found[row] = id_
        return np.array(found, np.int64)

    def _read_lists(self, numbers: Integers, memo: list[Any]) -> None:
        """Reads those lists of a column of which only the references are known."""
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
