"""Bulk reading of a memory snapshot's events: many at a time, with numpy.

The events of a trace are pickled in the same way. They have the same keys in the same order, each
key is a reference to an earlier string, and there are few kinds of values. The reader learns such a
layout from events that the machine reads one by one. Then it finds all positions in the loaded data
where an event may begin, and decodes them together, key by key. If all bytes match a layout, there
is an event, and its end is known.

When the machine is at the start of an event at one of these positions, the reader takes that event
and all that follow without a gap. It reads them exactly as the machine would. It leaves anything
else to the machine, such as an event with a frame header inside, or with a value of another kind.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ingest.formats.pickle.handover import Run
from ingest.formats.records import bounded
from ingest.formats.snapshot.bulk_decoder import ABSENT, BulkDecoder, Integers
from ingest.formats.snapshot.bulk_objects import (  # fmt: skip
    LIST_KIND,
    OTHER,
    POOL_KIND,
    TEXT_KIND,
    Misfit,
    Objects,
)
from ingest.formats.snapshot.layouts import (
    INTEGERS,
    LISTS,
    POOL,
    TEXTS,
    Layout,
    decoded,
    layout_of,
)
from ingest.formats.stacks import StacksOfFile

KINDS = dict.fromkeys(TEXTS, TEXT_KIND) | dict.fromkeys(LISTS, LIST_KIND) | {POOL: POOL_KIND}
UNKNOWN = -1  # the id of a value that has not been looked up
MAX_LAYOUTS = 8
MAX_MISFITS = 200
LEARNED_FIRST = 256  # later only some: learning from one event takes as long as reading many
MIN_RUN = 4  # the machine reads fewer events faster
FRAME_ZEROS = bytes(5)  # part of a frame's length; an event that contains them has no layout

Found = dict[str, Integers]


class BulkEventReader:
    """Reader of runs of events. Their columns, by key, are numbers or ids of objects.

    `arrays` converts the columns to values.
    """

    def __init__(self, stacks: StacksOfFile) -> None:
        self._layouts: list[Layout] = []
        self._misfits = 0
        self._seen = 0  # events that the machine has read
        self._data = b""
        self._starts = self._ends = self._breaks = np.empty(0, np.int64)
        self._found: Found = {}
        self._objects = Objects(stacks)
        self._memo_ids = np.full(1024, UNKNOWN, np.int32)
        self._known = 0  # length of the memo for which `_memo_ids` is up to date

    def learn(self, item: bytes, memo: list[Any]) -> None:
        """Learn the layout of an event that the machine has read, if it has one."""
        self._seen += 1
        can_learn = len(self._layouts) < MAX_LAYOUTS and self._misfits < MAX_MISFITS
        is_sampled = self._seen < LEARNED_FIRST or self._seen % 64 == 0
        if can_learn and is_sampled and FRAME_ZEROS not in item:
            layout = layout_of(item, memo)
            if layout and layout not in self._layouts:
                self._layouts.append(layout)
                self._data = b""

    def run(self, data: bytes, at: int, memo: list[Any]) -> Run | None:
        """Read the events from `at`, and extend the memo. Return None if the machine must do so."""
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
        """Return the columns of runs by key, with null if an event lacks the key.

        `counts`: the number of events in each run. `frames` and `forward_frames` are ids of stacks,
        and `pool_id` is in the form of torch.
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
            ids, inverse, counts_of = np.unique(values, return_inverse=True, return_counts=True)
            each = [None if id_ == ABSENT else self._objects.shown(id_) for id_ in ids.tolist()]
            if key in TEXTS:
                lengths = [len(text or "") for text in each]
                bounded(int(np.dot(lengths, counts_of)), key)
            type_ = pa.int32() if key in LISTS else pa.string()
            arrays[key] = pa.array(each, type_).take(pa.array(inverse))
        return arrays

    def _look_ahead(self, data: bytes, at: int) -> None:
        """Find all events of known layouts in the data from `at`."""
        decoder = BulkDecoder(data)
        heads = {prefix + fields[0][0] for prefix, fields in self._layouts}
        starts = np.unique(np.concatenate([decoder.find(head, at) for head in heads]))
        ends = np.full(len(starts), -1, np.int64)
        found: Found = {"memoised": np.zeros(len(starts), np.int64)}
        for layout in self._layouts:
            todo = np.flatnonzero(ends < 0)
            positions, columns = decoded(decoder, layout, starts[todo])
            fits = positions >= 0
            ends[todo[fits]] = positions[fits]
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
            positions, more = -1 - numbers[fresh], self._found[f"{key} more"][fresh]
            if key in TEXTS:
                ids = self._objects.texts(decoder, data, positions)
            elif key in LISTS:
                ids = self._objects.lists(data, positions, more)
            else:
                ids = self._objects.pools(positions, more)
            numbers[fresh] = -2 - ids

    def _read(self, first: int, last: int, memo: list[Any]) -> Run:
        """Read the found events from number `first` to `last` (exclusive)."""
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
        """Return the ids of the memo, up to date and with space for those of a run."""
        if after > len(self._memo_ids):
            added = np.full(after, UNKNOWN, np.int32)
            self._memo_ids = np.concatenate([self._memo_ids, added])
        self._memo_ids[self._known : before] = UNKNOWN
        self._memo_ids[before:after] = OTHER
        self._known = before
        return self._memo_ids

    def _ids_of(self, key: str, numbers: Integers, memo: list[Any], known: Any) -> Integers:
        """Return the ids of a column's values, both written out and referred to."""
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
