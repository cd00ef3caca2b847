"""Edges of the devices: what each activity waited for before it began.

It can begin when the call that launched it has launched it, when the activity before it on its
stream has ended, and when another stream is done for which CUDA recorded that its stream waits. The
last of these to happen is what it waited for. Where an activity still waited for long, and CUDA
recorded no reason, it waited for the activity of another stream that ended right before it began.
"""

import numpy as np

from ingest.pipeline.critical_path.graph import Edges, Integers, Kind
from ingest.pipeline.critical_path.nodes import SHORT_NS, Nodes

NONE = -1


def add_streams(nodes: Nodes, edges: Edges) -> None:
    """Adds the edges within and into the activities."""
    owners = nodes.activity_owners
    if not len(owners):
        return
    starts, ends = 2 * owners, 2 * owners + 1
    times = nodes.times
    edges.add(starts, ends, times[ends] - times[starts], owners, nodes.activities["class"])
    launch, previous = _launches(nodes), _previous(nodes)
    awaited = _recorded(nodes)
    free = np.maximum(_times(nodes, launch), _times(nodes, previous))
    is_long = times[starts] - free >= SHORT_NS
    awaited = np.where(is_long & (awaited == NONE), _ended_before(nodes, is_long, free), awaited)
    found = {Kind.DEPENDENCY: awaited, Kind.QUEUE: previous, Kind.LAUNCH: launch}
    last = np.maximum(free, _times(nodes, awaited))
    is_bound = np.zeros(len(owners), np.bool_)
    # What begins before its call ends takes the call's own time.
    calls = np.where((launch < nodes.start) & (launch % 2 == 0), launch // 2, owners)
    waited, others = Edges(), Edges()
    for kind, sources in found.items():
        waits = times[starts] - _times(nodes, sources)
        has = sources != NONE
        binds = has & ~is_bound & (_times(nodes, sources) == last)
        is_bound |= binds
        # An edge that decided nothing weighs the shortest wait of its kind.
        can_bind = binds.any() and kind is not Kind.DEPENDENCY
        shortest = waits[binds].min() if can_bind else 0
        in_call = (kind is Kind.LAUNCH) & (calls != owners)
        unexplained = is_long & binds & (kind is not Kind.DEPENDENCY) & ~in_call
        columns = (
            sources,
            starts,
            np.where(binds, waits, np.minimum(waits, shortest)),
            calls if kind is Kind.LAUNCH else owners,
            np.where(unexplained, Kind.UNEXPLAINED, kind),
        )
        waited.add(*(column[binds] for column in columns))
        others.add(*(column[has & ~binds] for column in columns))
    # Of edges that weigh the same, the path takes the first: what was waited for.
    edges.columns += waited.columns + others.columns


def _times(nodes: Nodes, sources: Integers) -> Integers:
    """When the nodes are; for none, before all others."""
    return np.where(sources == NONE, nodes.start_ns - 1, nodes.times[sources])


def _launches(nodes: Nodes) -> Integers:
    """The node that launched each activity: the end of the call, or its start if it began before.

    Work launched before the step counts as launched at the step's start.
    """
    activities = nodes.activities
    spans = np.array(
        [nodes.owner_of_event.get(event, NONE) for event in activities["launch_id"].tolist()],
        np.int64,
    )
    begun, known = activities["start_ns"], spans != NONE
    of_call = known & (nodes.spans["is_op"][spans] == 0) if nodes.span_count else known
    found = 2 * spans + (of_call & (nodes.times[2 * spans + 1] < begun))
    # At the same time, devices go first.
    known &= nodes.times[found] < begun
    launched_before = (activities["launch_ns"] >= 0) & (activities["launch_ns"] < nodes.start_ns)
    return np.where(known, found, np.where(launched_before, nodes.start, NONE))


def _previous(nodes: Nodes) -> Integers:
    """The end of the activity of the same stream that ended last before each began."""
    found = np.full(len(nodes.activity_owners), NONE)
    ends = 2 * nodes.activity_owners + 1
    for places in nodes.lanes_of(nodes.activities).values():
        by_end = places[np.argsort(nodes.times[ends[places]], kind="stable")]
        starts = nodes.activities["start_ns"][places]
        last = np.searchsorted(nodes.times[ends[by_end]], starts, "right") - 1
        before = by_end[last]
        # An activity without length ends when it begins.
        has = (last >= 0) & (before != places)
        found[places[has]] = ends[before[has]]
    return found


def _recorded(nodes: Nodes) -> Integers:
    """The end of the activity on another stream for which each one's stream was told to wait."""
    activities = nodes.activities
    found = np.full(len(nodes.activity_owners), NONE)
    by_lane = nodes.lanes_of(activities)
    syncs = nodes.syncs
    for place in np.flatnonzero(syncs["waits_on_host"] == 0).tolist():
        waiting = by_lane.get(int(syncs["lane"][place]))
        awaited = by_lane.get(int(syncs["awaited_lane"][place]))
        call = nodes.owner_of_event.get(int(syncs["call_id"][place]))
        if waiting is None or awaited is None or call is None:
            continue
        after = waiting[activities["launch_ns"][waiting] >= nodes.times[2 * call]]
        before = awaited[activities["launch_ns"][awaited] < syncs["before_ns"][place]]
        if len(after) and len(before):
            first, last = after[0], before[-1]
            end = 2 * nodes.activity_owners[last] + 1
            is_later = found[first] == NONE or nodes.times[end] > nodes.times[found[first]]
            if is_later and nodes.times[end] <= activities["start_ns"][first]:
                found[first] = end
    return found


def _ended_before(nodes: Nodes, is_long: np.ndarray, free: Integers) -> Integers:
    """The end of the activity on another stream that ended right before one that waited long."""
    activities = nodes.activities
    of_activities = nodes.times[2 * nodes.activity_owners + 1]
    by_end = np.argsort(of_activities, kind="stable")
    ends = of_activities[by_end]
    found = np.full(len(is_long), NONE)
    for place in np.flatnonzero(is_long).tolist():
        begun = activities["start_ns"][place]
        since = max(int(free[place]), int(begun) - SHORT_NS)
        first, end = np.searchsorted(ends, [since, begun], "right")
        others = by_end[first:end][::-1]
        others = others[activities["lane"][others] != activities["lane"][place]]
        if len(others):
            found[place] = 2 * nodes.activity_owners[others[0]] + 1
    return found
