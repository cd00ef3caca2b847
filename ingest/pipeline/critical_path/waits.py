"""Edges into calls in which the host waits for a device."""

from bisect import bisect_right

import numpy as np
import numpy.typing as npt

from ingest.pipeline.critical_path.graph import Edges, Kind
from ingest.pipeline.critical_path.nodes import Nodes

FOR_DEVICE = 1  # of column `wait` in `path_spans`
ANY_DEVICE, ALL_LANES = -1, 0
COPY = 2  # of column `class` in `path_activities`


def add_waits(nodes: Nodes, edges: Edges) -> npt.NDArray[np.bool_]:
    """Adds an edge from what each wait waited for to its end; returns the spans that have one.

    A synchronisation waits for what was launched before it: on the stream, and before the event,
    that CUDA recorded, else on any stream. What has no launch was launched before the recording. A
    call that copies waits where the copy ends before the call does.
    """
    activities = nodes.activities
    has_edge = np.zeros(nodes.span_count, np.bool_)
    launched: dict[int, int] = {}  # by a call that copies: its last copy
    for place in np.flatnonzero(activities["class"] == COPY).tolist():
        call = nodes.owner_of_event.get(int(activities["launch_id"][place]))
        if call is not None and not nodes.spans["is_op"][call]:
            launched[call] = place
    recorded: dict[int | None, list[tuple[int, int, int]]] = {}
    columns = ("call_id", "device", "awaited_lane", "before_ns", "waits_on_host")
    for call, device, lane, before_ns, on_host in zip(
        *(nodes.syncs[name].tolist() for name in columns), strict=True
    ):
        if on_host:
            awaited = recorded.setdefault(nodes.owner_of_event.get(call), [])
            awaited.append((device, lane, before_ns))
    of_activities = nodes.times[2 * nodes.activity_owners + 1]
    by_end = np.argsort(of_activities, kind="stable")
    ends = of_activities[by_end].tolist()
    waits = set(np.flatnonzero(nodes.spans["wait"] == FOR_DEVICE).tolist())
    for span in sorted(waits | launched.keys()):
        since, until = int(nodes.times[2 * span]), int(nodes.times[2 * span + 1])
        awaits = recorded.get(span, [(ANY_DEVICE, ALL_LANES, since)])
        for at in range(bisect_right(ends, until) - 1, -1, -1):
            place = int(by_end[at])
            if ends[at] <= since:
                break
            is_awaited = span in waits and any(
                device in (ANY_DEVICE, activities["device"][place])
                and lane in (ALL_LANES, activities["lane"][place])
                and activities["launch_ns"][place] < before_ns
                for device, lane, before_ns in awaits
            )
            if is_awaited or launched.get(span) == place:
                source = 2 * int(nodes.activity_owners[place]) + 1
                edges.add(source, 2 * span + 1, until - ends[at], span, Kind.SYNC)
                has_edge[span] = True
                break
    return has_edge
