"""Depth, parent and self time of spans on a thread, for spans that cross as well as nest.

This is the one step that SQL does not do: a stack is a scan in order, and joining the spans with
themselves instead took six times as long. The scan goes by batches, with the open spans carried
from one to the next, so that a thread of any length takes the memory of one batch.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ingest.arrow import arrow_of, numpy_of

BATCH_ROWS = 1 << 15  # few enough for the processor's cache
NESTED = pa.schema(
    [
        ("event_id", pa.int64()),
        ("depth", pa.int32()),
        ("parent_id", pa.int64()),
        ("self_ns", pa.int64()),
    ]
)

Integers = npt.NDArray[np.int64]


def nest(
    connection: duckdb.DuckDBPyConnection, reads: tuple[str, ...], fills: tuple[str, ...]
) -> None:
    """Fills the table `fills` (event_id, depth, parent_id, self_ns) from the relation `reads`.

    The latter has (lane, event_id, start_ns, end_ns, event_index). Outermost to innermost is by
    start, then longest first, then the profiler's own order. Where two spans cross, as a
    `ProfilerStep` does with the Python frame it opens in, torch ends the earlier one for nesting
    at the later one's start, and so does this. Spans of no length are nobody's parent. Source of
    the rules: torch.autograd.profiler_util.
    """
    (spans,), (result,) = reads, fills
    ordered = connection.cursor().sql(
        f"SELECT lane, start_ns, end_ns, event_id FROM {spans} "
        "ORDER BY lane, start_ns, end_ns DESC, event_index, event_id"
    )
    batches = nested(ordered.to_arrow_reader(BATCH_ROWS))
    connection.register("nested", pa.RecordBatchReader.from_batches(NESTED, batches))
    connection.execute(f"INSERT INTO {result} FROM nested")
    connection.unregister("nested")


def nested(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The places of spans, as they close, from (lane, start_ns, end_ns, event_id) in order."""
    lane, still_open = None, Spans.none()
    for batch in batches:
        lanes, *columns = map(numpy_of, batch.columns)
        bounds = [0, *np.flatnonzero(lanes[1:] != lanes[:-1]) + 1, len(lanes)]
        for first, end in pairwise(bounds):
            if first == end:
                continue
            if lanes[first] != lane:
                yield still_open.close_all()
                lane, still_open = lanes[first], Spans.none()
            closed, still_open = still_open.followed_by(*(c[first:end] for c in columns))
            yield closed
    yield still_open.close_all()


@dataclass
class Spans:
    """Spans of one lane in order of their starts, and the time that spans inside them took."""

    start_ns: Integers
    end_ns: Integers
    event_id: Integers
    inside_ns: Integers

    @classmethod
    def none(cls) -> "Spans":
        """No span."""
        return cls(*(np.empty(0, np.int64) for _ in range(4)))

    def followed_by(
        self, start_ns: Integers, end_ns: Integers, event_id: Integers
    ) -> tuple[pa.RecordBatch, "Spans"]:
        """Of these, all open, and the lane's next ones: the closed, and those still open."""
        spans = Spans(
            np.concatenate([self.start_ns, start_ns]),
            np.concatenate([self.end_ns, end_ns]),
            np.concatenate([self.event_id, event_id]),
            np.concatenate([self.inside_ns, np.zeros(len(start_ns), np.int64)]),
        )
        return spans._close(until_ns=int(start_ns[-1]))

    def close_all(self) -> pa.RecordBatch:
        """The places of all of these, after which the lane has no more."""
        return self._close(until_ns=np.iinfo(np.int64).max)[0]

    def _close(self, until_ns: int) -> tuple[pa.RecordBatch, "Spans"]:
        ends = self.end_ns
        depth, parent = _places(self.start_ns, ends)
        inside = parent >= 0
        if np.any(ends[parent[inside]] < ends[inside]):
            ends = _cut_where_crossed(self.start_ns, ends)
            depth, parent = _places(self.start_ns, ends)
            inside = parent >= 0
        closed = ends <= until_ns
        nest_ns = ends - self.start_ns
        counted = closed & inside
        self.inside_ns += np.bincount(  # exact: below 2⁵³, as any duration is
            parent[counted], nest_ns[counted], minlength=len(ends)
        ).astype(np.int64)
        batch = pa.record_batch(
            [
                arrow_of(self.event_id[closed]),
                arrow_of(depth[closed].astype(np.int32)),
                arrow_of(self.event_id[parent[closed]], ~inside[closed]),
                arrow_of((nest_ns - self.inside_ns)[closed]),
            ],
            schema=NESTED,
        )
        columns = (self.start_ns, self.end_ns, self.event_id, self.inside_ns)
        return batch, Spans(*(column[~closed] for column in columns))


def _places(start_ns: Integers, end_ns: Integers) -> tuple[Integers, Integers]:
    """Depth of each span and the place of its parent (-1: none), for spans that nest.

    Depth is the number of earlier spans still open; the parent is the last of those one level up.
    """
    count = len(start_ns)
    opens = end_ns > start_ns
    opened: Integers = np.cumsum(opens) - opens
    depth = opened - np.searchsorted(np.sort(end_ns[opens]), start_ns, "right")
    by_depth = depth * count + np.arange(count)
    possible = np.sort(by_depth[opens])
    found = np.searchsorted(possible, by_depth - count) - 1
    parent = np.full(count, -1)
    parent[depth > 0] = possible[found[depth > 0]] % count
    return depth, parent


def _cut_where_crossed(start_ns: Integers, end_ns: Integers) -> Integers:
    """The ends, where a later span outlasts a span moved to that later one's start."""
    count = len(end_ns)
    highest = [end_ns]  # level k: the last end of the 2ᵏ spans from each place on
    while 2 ** len(highest) <= count:
        half = 2 ** (len(highest) - 1)
        highest.append(np.maximum(highest[-1][:-half], highest[-1][half:]))
    by = np.arange(1, count + 1)  # moved on over spans that do not outlast this one
    for level, ends in reversed(list(enumerate(highest))):
        within = np.flatnonzero(by < len(ends))
        by[within] += (ends[by[within]] <= end_ns[within]) << level
    crossing: Integers = np.append(start_ns, np.iinfo(np.int64).max)[by]
    return np.minimum(end_ns, crossing)
