"""Further tracks for events that cross others of their thread or stream.

Viewers of Chrome traces nest the events of a track. They drop an event that begins within another
and outlasts it, such as an annotation that a Python frame opens, or a kernel that begins before the
previous one ends.

This is not SQL, because the track of an event depends on those of all events before it.
"""

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ingest.arrow import arrow_of, numpy_of

MOST_TRACKS = 64  # of a thread or stream; the last has all further events, which may cross
LATEST = np.iinfo(np.int64).max
OUTERMOST_FIRST = [
    ("lane", "ascending"),
    ("start_ns", "ascending"),
    ("end_ns", "descending"),
    ("event_id", "ascending"),
]

Integers = npt.NDArray[np.int64]


def possible(cuts: pa.Table, spans: pa.Table) -> pa.Table:
    """Return all spans that cross others, and few that do not.

    `cuts` and `spans` are the results of the queries `chrome_cuts` and `chrome_spans`. If two spans
    of a thread cross, the earlier one ends within the later one, and `cuts` has the end of the
    earlier one or of a span inside it. All other spans are on the first track, because they nest
    in these and in each other.
    """
    lane, start_ns, end_ns, may_cross = (
        numpy_of(spans[name].combine_chunks())
        for name in ("lane", "start_ns", "end_ns", "may_cross")
    )
    found = may_cross == 1
    cut_lane, cut_ns = (numpy_of(cuts[name].combine_chunks()) for name in ("lane", "end_ns"))
    by_lane = np.argsort(lane, kind="stable")
    firsts = np.flatnonzero(np.diff(lane[by_lane])) + 1
    for first, last in pairwise([0, *firsts, len(lane)]):
        of_lane = by_lane[first:last]
        starts, ends = start_ns[of_lane], end_ns[of_lane]
        cut_ends = cut_ns[np.isin(cut_lane, lane[of_lane[:1]])]
        earlier = ends[_have_end(starts, ends, cut_ends)]
        found[of_lane[_have_end(starts, ends, np.append(earlier, cut_ends))]] = True
    return spans.take(arrow_of(np.flatnonzero(found)))


def _have_end(start_ns: Integers, end_ns: Integers, some_ns: Integers) -> npt.NDArray[np.bool_]:
    """Return whether each span contains one of some times, or ends at one."""
    times = np.append(np.unique(some_ns), LATEST)
    found: npt.NDArray[np.bool_] = times[np.searchsorted(times, start_ns, "right")] <= end_ns
    return found


def crossing(spans: pa.Table) -> dict[str, list[int]]:
    """Return the events that do not nest in their thread or stream.

    `spans` is the result of the query `chrome_spans`. `crossing_ids` are the ids of the returned
    events. `tracks` are the numbers of the first tracks on which they nest, from 2, because the
    first track of a thread or stream has all other events.
    """
    found: dict[str, list[int]] = {"crossing_ids": [], "tracks": []}
    current = None
    tracks: list[list[int]] = []  # the ends of the open spans of each track, outermost first
    spans = spans.sort_by(OUTERMOST_FIRST)
    columns = (spans[name].to_pylist() for name in ("event_id", "lane", "start_ns", "end_ns"))
    for event_id, lane, start_ns, end_ns in zip(*columns, strict=True):
        if lane != current:
            current, tracks = lane, [[]]
        for track, ends in enumerate(tracks, 1):
            while ends and ends[-1] <= start_ns:
                ends.pop()
            if not ends or end_ns <= ends[-1] or track == MOST_TRACKS:
                break
        else:
            ends, track = [], len(tracks) + 1
            tracks.append(ends)
        ends.append(end_ns)
        if track > 1:
            found["crossing_ids"].append(event_id)
            found["tracks"].append(track)
    return found
