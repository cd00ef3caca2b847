"""The nodes of a step: the starts and ends of its spans, which are host events, and activities."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ingest.conversion.critical_path.graph import NOBODY, Integers

Columns = Mapping[str, Integers]
KERNEL_START_NS = 30_000  # time to start a kernel; the default of `stream_idle` too


@dataclass(frozen=True)
class Nodes:
    """The rows of a step in `path_spans`, `path_activities` and `path_syncs`, and its nodes.

    Spans and activities are the owners of nodes. They are numbered from 0, spans first. Owner n
    starts at node 2n and ends at node 2n + 1. The last two nodes are the step's start and end.
    """

    start_ns: int
    end_ns: int
    spans: Columns
    activities: Columns
    syncs: Columns

    @cached_property
    def span_count(self) -> int:
        """The number of spans."""
        return len(self.spans["event_id"])

    @cached_property
    def activity_owners(self) -> Integers:
        """The owner numbers of the activities."""
        return self.span_count + np.arange(len(self.activities["event_id"]))

    @cached_property
    def start(self) -> int:
        """The node of the step's start."""
        return 2 * (self.span_count + len(self.activities["event_id"]))

    @property
    def end(self) -> int:
        """The node of the step's end."""
        return self.start + 1

    @cached_property
    def times(self) -> Integers:
        """The time of each node, ns.

        Some profilers record that an activity begins shortly before the previous one on its stream
        ends. The previous one then counts as ending when the next one begins.
        """
        starts = np.concatenate([self.spans["start_ns"], self.activities["start_ns"]])
        activity_ends = self.activities["end_ns"].copy()
        for rows in self.lanes_of(self.activities).values():
            before, after = rows[:-1], rows[1:]
            begin = self.activities["start_ns"][after]
            overlap = activity_ends[before] - begin
            is_short = (overlap > 0) & (overlap < KERNEL_START_NS)
            is_short &= (begin > self.activities["start_ns"][before]) & (
                self.activities["end_ns"][after] >= activity_ends[before]
            )
            activity_ends[before[is_short]] = begin[is_short]
        ends = np.concatenate([self.spans["end_ns"], activity_ends])
        pairs = np.column_stack([starts, ends]).reshape(-1)
        return np.append(pairs, [self.start_ns, self.end_ns])

    def spans_of(self, events: Integers) -> Integers:
        """Return the owner number of the span with each of the event ids, or NOBODY."""
        if not self.span_count:
            return np.full(len(events), NOBODY)
        found = np.searchsorted(self.spans["event_id"], events, sorter=self._spans_by_event)
        spans = self._spans_by_event[np.minimum(found, self.span_count - 1)]
        return np.where(self.spans["event_id"][spans] == events, spans, NOBODY)

    @cached_property
    def _spans_by_event(self) -> Integers:
        return np.argsort(self.spans["event_id"])

    def lanes_of(self, columns: Columns) -> dict[int, Integers]:
        """Return the row numbers of each lane, in order. Lanes are in numerical order."""
        lanes, inverse = np.unique(columns["lane"], return_inverse=True)
        by_lane = np.argsort(inverse, kind="stable")
        parts = np.split(by_lane, np.cumsum(np.bincount(inverse))[:-1]) if len(lanes) else []
        return dict(zip(lanes.tolist(), parts, strict=True))
