"""Edges to the ends of calls in which the host waits for a device."""

from bisect import bisect_right

import numpy as np
import numpy.typing as npt

from ingest.conversion.critical_path.graph import NOBODY, Edges, Kind
from ingest.conversion.critical_path.nodes import Nodes

FOR_DEVICE = 1  # value of column `wait` in `path_spans`
ANY_DEVICE, ALL_LANES = -1, 0
COPY = 2  # value of column `class` in `path_activities`


def add_waits(nodes: Nodes, edges: Edges) -> npt.NDArray[np.bool_]:
    """Add edges to the end of each wait. Return a mask of the spans with such edges.

    A synchronisation waits for work launched before it, on any stream. If CUDA recorded the stream
    and event, it waits only for work launched on that stream before that event. Activities without
    a launch were launched before the recording. A call that copies is a wait if the copy ends
    before the call does. The host waits for the last awaited activity of each stream.
    """
    activities = nodes.activities
    has_edge = np.zeros(nodes.span_count, np.bool_)
    last_copy: dict[int, int] = {}  # by the call that launched it
    copies = np.flatnonzero(activities["class"] == COPY)
    calls = nodes.spans_of(activities["launch_id"][copies])
    for call, row in zip(calls.tolist(), copies.tolist(), strict=True):
        if call != NOBODY and not nodes.spans["is_op"][call]:
            last_copy[call] = row
    recorded: dict[int, list[tuple[int, int, int]]] = {}
    calls = nodes.spans_of(nodes.syncs["call_id"])
    columns = ("device", "awaited_lane", "before_ns", "waits_on_host")
    for call, device, lane, before_ns, on_host in zip(
        calls.tolist(), *(nodes.syncs[name].tolist() for name in columns), strict=True
    ):
        if on_host:
            recorded.setdefault(call, []).append((device, lane, before_ns))
    activity_ends = nodes.times[2 * nodes.activity_owners + 1]
    by_end = np.argsort(activity_ends, kind="stable")
    ends = activity_ends[by_end].tolist()
    lanes = len(np.unique(activities["lane"]))
    waits = set(np.flatnonzero(nodes.spans["wait"] == FOR_DEVICE).tolist())
    for span in sorted(waits | last_copy.keys()):
        since, until = int(nodes.times[2 * span]), int(nodes.times[2 * span + 1])
        awaits = recorded.get(span, [(ANY_DEVICE, ALL_LANES, since)])
        last: dict[int, int] = {}  # the awaited activity of each lane that ended last
        for at in range(bisect_right(ends, until) - 1, -1, -1):
            row = int(by_end[at])
            if ends[at] <= since or len(last) == lanes:
                break
            lane = int(activities["lane"][row])
            if lane in last:
                continue
            is_awaited = span in waits and any(
                device in (ANY_DEVICE, activities["device"][row])
                and of_lane in (ALL_LANES, lane)
                and activities["launch_ns"][row] < before_ns
                for device, of_lane, before_ns in awaits
            )
            if is_awaited or last_copy.get(span) == row:
                last[lane] = row
        if last:
            rows = np.array(list(last.values()))
            # Without the last one, the host would still wait for the others, and then continue
            # after the same time.
            after_ns = until - int(activity_ends[rows].max())
            sources = 2 * nodes.activity_owners[rows] + 1
            edges.add(sources, 2 * span + 1, after_ns, span, Kind.SYNC)
            has_edge[span] = True
    return has_edge
