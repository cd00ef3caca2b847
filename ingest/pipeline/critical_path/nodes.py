"""The nodes of a step: when its spans and activities start and end."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ingest.pipeline.critical_path.graph import Integers

Columns = Mapping[str, Integers]


@dataclass(frozen=True)
class Nodes:
    """The columns of a step's `path_spans`, `path_activities` and `path_syncs`, and its nodes.

    Spans and activities own the nodes: the spans are numbered first, then the activities. Owner n
    starts with node 2n and ends with node 2n + 1. The last two nodes are the step's start and end.
    """

    start_ns: int
    end_ns: int
    spans: Columns
    activities: Columns
    syncs: Columns

    @cached_property
    def span_count(self) -> int:
        return len(self.spans["event_id"])

    @cached_property
    def activity_owners(self) -> Integers:
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
        """The time of each node, ns."""
        starts, ends = (
            np.concatenate([self.spans[name], self.activities[name]])
            for name in ("start_ns", "end_ns")
        )
        pairs = np.column_stack([starts, ends]).reshape(-1)
        return np.append(pairs, [self.start_ns, self.end_ns])

    @cached_property
    def owner_of_event(self) -> dict[int, int]:
        """The span with an `event_id`."""
        return {event: owner for owner, event in enumerate(self.spans["event_id"].tolist())}

    def lanes_of(self, columns: Columns) -> dict[int, Integers]:
        """The places of the rows of each lane, in their order; the lanes in order of number."""
        lanes, inverse = np.unique(columns["lane"], return_inverse=True)
        by_lane = np.argsort(inverse, kind="stable")
        parts = np.split(by_lane, np.cumsum(np.bincount(inverse))[:-1]) if len(lanes) else []
        return dict(zip(lanes.tolist(), parts, strict=True))
