"""Edges of the devices: what each activity waited for before it began.

An activity can begin when three conditions hold. It has been launched. The previous activity on its
stream has ended. The other streams that its stream waits for, as CUDA recorded, are done. It waited
for the last of these to happen. If it still waited long, and CUDA recorded no reason, it waited for
the activity on another stream that ended right before it began.

The clocks of MegEngine's hosts and devices are not comparable, so its launches explain no wait. A
wait is a dependency if the activity waited for other comp nodes for at least half of it, otherwise
it is the host's, as `gaps.is_wait` has it.
"""

import numpy as np

from ingest.conversion.critical_path.graph import NOBODY, Edges, Integers, Kind
from ingest.conversion.critical_path.nodes import KERNEL_START_NS, Nodes

NONE = -1


def add_streams(nodes: Nodes, edges: Edges) -> None:
    """Add the edges inside the activities, and those to their starts."""
    owners = nodes.activity_owners
    if not len(owners):
        return
    starts, ends = 2 * owners, 2 * owners + 1
    times = nodes.times
    edges.add(starts, ends, times[ends] - times[starts], owners, nodes.activities["class"])
    launch, previous = _launches(nodes), _previous(nodes)
    pairs = _recorded(nodes)
    awaited = _latest(nodes, pairs)
    free = np.maximum(_times(nodes, launch), _times(nodes, previous))
    is_long = times[starts] - free >= KERNEL_START_NS
    awaited = np.where(is_long & (awaited == NONE), _ended_before(nodes, is_long, free), awaited)
    found = {Kind.DEPENDENCY: awaited, Kind.QUEUE: previous, Kind.LAUNCH: launch}
    last = np.maximum(free, _times(nodes, awaited))
    is_bound = np.zeros(len(owners), np.bool_)
    # An activity that begins before its call ends waits for the call itself, which owns the edge.
    calls = np.where((launch < nodes.start) & (launch % 2 == 0), launch // 2, owners)
    waited_ns = nodes.activities["waited_ns"]
    waited, others = Edges(), Edges()
    for kind, sources in found.items():
        waits = times[starts] - _times(nodes, sources)
        has = sources != NONE
        binds = has & ~is_bound & (_times(nodes, sources) == last)
        is_bound |= binds
        # An edge that did not decide the start weighs the shortest wait of its kind.
        can_bind = binds.any() and kind is not Kind.DEPENDENCY
        shortest = waits[binds].min() if can_bind else 0
        in_call = (kind is Kind.LAUNCH) & (calls != owners)
        unexplained = is_long & binds & (kind is not Kind.DEPENDENCY) & ~in_call
        of_megengine = np.where(2 * waited_ns >= waits, Kind.DEPENDENCY, Kind.HOST)
        kinds = np.where(unexplained, Kind.UNEXPLAINED, kind)
        columns = (
            sources,
            starts,
            np.where(binds, waits, np.minimum(waits, shortest)),
            calls if kind is Kind.LAUNCH else owners,
            np.where(waited_ns == NONE, kinds, of_megengine),
        )
        waited.add(*(column[binds] for column in columns))
        others.add(*(column[has & ~binds] for column in columns))
    rows, earlier = pairs[:, pairs[1] != awaited[pairs[0]]]
    others.add(earlier, starts[rows], 0, owners[rows], Kind.DEPENDENCY)
    # The path takes the first of equal edges: put those that were waited for first.
    edges.columns += waited.columns + others.columns


def _times(nodes: Nodes, sources: Integers) -> Integers:
    """Return the times of nodes. For NONE, it is a time before all nodes."""
    return np.where(sources == NONE, nodes.start_ns - 1, nodes.times[sources])


def _launches(nodes: Nodes) -> Integers:
    """Return the node that launched each activity, or NONE.

    It is the end of the call, or its start if the activity began before that end. Work launched
    before the step counts as launched at the step's start.
    """
    activities = nodes.activities
    spans = nodes.spans_of(activities["launch_id"])
    begun, known = activities["start_ns"], spans != NOBODY
    of_call = known & (nodes.spans["is_op"][spans] == 0) if nodes.span_count else known
    found = 2 * spans + (of_call & (nodes.times[2 * spans + 1] < begun))
    known &= nodes.times[found] <= begun
    launched_before = (activities["launch_ns"] >= 0) & (activities["launch_ns"] < nodes.start_ns)
    return np.where(known, found, np.where(launched_before, nodes.start, NONE))


def _previous(nodes: Nodes) -> Integers:
    """Return the end node of the activity on the same stream that ended last before each began."""
    found = np.full(len(nodes.activity_owners), NONE)
    ends = 2 * nodes.activity_owners + 1
    for rows in nodes.lanes_of(nodes.activities).values():
        by_end = rows[np.argsort(nodes.times[ends[rows]], kind="stable")]
        starts = nodes.activities["start_ns"][rows]
        last = np.searchsorted(nodes.times[ends[by_end]], starts, "right") - 1
        # An activity of length zero ends when it begins, but neither it nor an activity that begins
        # at the same time waits for it.
        while np.any(is_later := (last >= 0) & (by_end[last] >= rows)):
            last[is_later] -= 1
        has = last >= 0
        found[rows[has]] = ends[by_end[last[has]]]
    return found


def _recorded(nodes: Nodes) -> Integers:
    """Return which activities waited for other streams, as CUDA recorded, and what they waited for.

    The result has two rows: activities, and the end nodes of activities on other streams.
    """
    activities = nodes.activities
    found = set()
    by_lane = nodes.lanes_of(activities)
    syncs = nodes.syncs
    is_of_stream = (syncs["waits_on_host"] == 0) & (syncs["lane"] != syncs["awaited_lane"])
    calls = nodes.spans_of(syncs["call_id"])
    is_of_stream &= calls != NOBODY
    for row in np.flatnonzero(is_of_stream).tolist():
        waiting = by_lane.get(int(syncs["lane"][row]))
        awaited = by_lane.get(int(syncs["awaited_lane"][row]))
        if waiting is None or awaited is None:
            continue
        after = waiting[activities["launch_ns"][waiting] >= nodes.times[2 * calls[row]]]
        before = awaited[activities["launch_ns"][awaited] < syncs["before_ns"][row]]
        if len(after) and len(before):
            first, last = int(after[0]), int(before[-1])
            end = 2 * int(nodes.activity_owners[last]) + 1
            if nodes.times[end] <= activities["start_ns"][first]:
                found.add((first, end))
    return np.array(sorted(found), np.int64).reshape(-1, 2).T


def _latest(nodes: Nodes, pairs: Integers) -> Integers:
    """Return, for each activity, the latest of the nodes that it waited for, or NONE."""
    rows, ends = pairs[:, np.argsort(nodes.times[pairs[1]], kind="stable")]
    found = np.full(len(nodes.activity_owners), NONE)
    found[rows] = ends  # the last one wins
    return found


def _ended_before(nodes: Nodes, is_long: np.ndarray, free: Integers) -> Integers:
    """Return, for each long wait, the end node of the activity that ended right before its end.

    That activity is on another stream. The node is NONE for activities that did not wait long, or
    if there is no such activity.
    """
    activities = nodes.activities
    activity_ends = nodes.times[2 * nodes.activity_owners + 1]
    by_end = np.argsort(activity_ends, kind="stable")
    ends = activity_ends[by_end]
    found = np.full(len(is_long), NONE)
    for row in np.flatnonzero(is_long).tolist():
        begun = activities["start_ns"][row]
        since = max(int(free[row]), int(begun) - KERNEL_START_NS)
        first, end = np.searchsorted(ends, [since, begun], "right")
        others = by_end[first:end][::-1]
        is_other = activities["lane"][others] != activities["lane"][row]
        others = others[is_other & (activities["start_ns"][others] < begun)]
        if len(others):
            found[row] = 2 * nodes.activity_owners[others[0]] + 1
    return found
