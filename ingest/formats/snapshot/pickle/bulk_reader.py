"""A fast lane for the events of a memory snapshot: many at a time, with numpy.

Events of a trace are pickled alike: the same keys in the same order, each a reference to a string
that was met before, and values of few kinds. From events read the long way the lane learns such
orders, its layouts. In what is at hand of the pickle it then looks for places where an event may
begin, and walks through all of them together, key by key and value by value. Where every byte is
as a layout has it, there is an event, and its end is known. The machine stands at the start of an
event; if that is one of these places, it and all that follow without a gap are as the machine
would read them. Anything else, such as an event with the header of a frame in its midst, or with
a value of another kind, is left to the machine.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ingest.formats.snapshot.pickle.bulk_decoder import ABSENT, Integers, LaneDecoder
from ingest.formats.snapshot.pickle.bulk_objects import (  # fmt: skip
    LIST_KIND,
    OTHER,
    POOL_KIND,
    TEXT_KIND,
    Misfit,
    Objects,
)
from ingest.formats.snapshot.pickle.handover import Run
from ingest.formats.snapshot.pickle.layouts import (
    INTEGERS,
    LISTS,
    POOL,
    TEXTS,
    Layout,
    decoded,
    layout_of,
)
from ingest.formats.snapshot.records import bounded
from ingest.formats.snapshot.stacks import StacksOfFile

KINDS = dict.fromkeys(TEXTS, TEXT_KIND) | dict.fromkeys(LISTS, LIST_KIND) | {POOL: POOL_KIND}
UNKNOWN = -1  # the id of what was not looked at
MAX_LAYOUTS = 8
MAX_MISFITS = 200
LESSONS = 256  # a look at one event takes as long as reading many
MIN_RUN = 4  # fewer are sooner read the long way
FRAME_ZEROS = bytes(5)  # in the length of a frame; what has them is not worth a look

Found = dict[str, Integers]


class EventLane:
    """Reads runs of events. Their columns, by key, are numbers, or ids of objects.

    `arrays` has the values.
    """

    def __init__(self, stacks: StacksOfFile) -> None:
        self._layouts: list[Layout] = []
        self._misfits = 0
        self._seen = 0  # events read the long way
        self._data = b""
        self._starts = self._ends = self._breaks = np.empty(0, np.int64)
        self._found: Found = {}
        self._objects = Objects(stacks)
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
            each = [None if id_ == ABSENT else self._objects.shown(id_) for id_ in ids.tolist()]
            if key in TEXTS:
                lengths = [len(text or "") for text in each]
                bounded(int(np.dot(lengths, counts_of)), key)
            type_ = pa.int32() if key in LISTS else pa.string()
            arrays[key] = pa.array(each, type_).take(pa.array(places))
        return arrays

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
        self._objects.forget_unread()
        for key in KINDS.keys() & self._found.keys():
            numbers = self._found[key]
            fresh = np.flatnonzero((numbers < 0) & (numbers != ABSENT))
            places, more = -1 - numbers[fresh], self._found[f"{key} more"][fresh]
            if key in TEXTS:
                ids = self._objects.texts(decoder, data, places)
            elif key in LISTS:
                ids = self._objects.lists(data, places, more)
            else:
                ids = self._objects.pools(places, more)
            numbers[fresh] = -2 - ids

    def _read(self, first: int, last: int, memo: list[Any]) -> Run:
        """The events from number `first` up to `last` of those that were found."""
        rows = {name: values[first:last] for name, values in self._found.items()}
        columns = {key: rows[key] for key in INTEGERS if key in rows}
        before, held = len(memo), self._objects.held
        lengths = before + np.cumsum(rows["memoised"])  # of the memo, after each event
        after = int(lengths[-1])
        known = self._up_to(before, after)
        for key in KINDS.keys() & rows.keys():
            numbers = rows[key]
            seen = lengths - rows["memoised"] + rows[f"{key} seen"]
            ahead = np.flatnonzero((numbers != ABSENT) & (numbers >= seen))
            if len(ahead):
                raise Misfit(int(ahead[0]))
            if key in LISTS:
                self._objects.read_lists(numbers, memo)
            kept = rows[f"{key} kept"] == 1
            known[seen[kept]] = -2 - numbers[kept]
        for key in KINDS.keys() & rows.keys():
            columns[key] = self._ids_of(key, rows[key], memo, known)
        memo += self._objects.values(known[before:after].tolist())
        self._known = after
        return Run(int(self._ends[last - 1]), last - first, columns, self._objects.held - held)

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
                known[number] = self._objects.in_memo(memo[number])
            ids[unknown] = known[numbers[unknown]]
        is_absent = numbers == ABSENT
        wrong = np.flatnonzero(((ids & 3) != KINDS[key]) & ~is_absent)
        if len(wrong):
            raise Misfit(int(wrong[0]))
        ids[is_absent] = ABSENT
        return ids
