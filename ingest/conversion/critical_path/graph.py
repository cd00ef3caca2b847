"""The graph of a step: dependencies between starts and ends of its spans and activities.

A node is the start or the end of a span on the host, or of an activity on a device. An edge leads
from a node to a later one that had to wait for it. Its weight is the time that must pass between
them. Each node has an incoming edge whose weight is all the time since its source, which is the
node that it actually waited for. So the longest path to the last node is as long as the step, and
consists of the edges that the step waited for.
"""

from dataclasses import dataclass, field
from enum import IntEnum
from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.signedinteger]
NOBODY = -1  # the owner of time between operators
# Types of the columns of edges. A step with 2³¹ nodes would not fit in memory.
EDGE_TYPES = (np.int32, np.int32, np.int64, np.int32, np.int8)


class Kind(IntEnum):
    """The kind of an edge. `critical_path_kinds` has their descriptions."""

    COMMUNICATION = 0
    COMPUTE = 1
    COPY = 2
    HOST = 3  # a span's own time, or Python between operators, without the last two kinds
    LAUNCH = 4  # from a call to the start of the activity that it launched
    QUEUE = 5  # between two activities of a stream
    DEPENDENCY = 6  # from the end of an activity to the start of one on another stream
    SYNC = 7  # from the end of the awaited activity to the end of the host's wait
    THREAD = 8  # from one thread to another
    UNEXPLAINED = 9  # a wait that no event explains
    DATALOADER = 10  # the host's time in a data loader
    COMPILE = 11  # the host's time in torch.compile


@dataclass
class Edges:
    """Edges as columns: source and target nodes, weight (ns), owner and kind."""

    columns: list[tuple[Integers, ...]] = field(default_factory=list)

    def add(
        self,
        sources: npt.ArrayLike,
        targets: npt.ArrayLike,
        weights: npt.ArrayLike,
        owners: npt.ArrayLike,
        kinds: npt.ArrayLike,
    ) -> None:
        """Add edges. A scalar is the value of all of them."""
        values = (sources, targets, weights, owners, kinds)
        columns = np.broadcast_arrays(*map(np.asarray, values, EDGE_TYPES))
        self.columns.append(tuple(np.atleast_1d(column) for column in columns))


@dataclass(frozen=True)
class Graph:
    """Nodes, ordered so that every edge leads to a later one, and edges, ordered by target.

    The first node is the start of the step, and the last one is its end. `times` are in ns.
    """

    times: Integers
    sources: Integers
    targets: Integers
    weights: Integers
    owners: Integers
    kinds: Integers


def in_order(times: Integers, lanes: Integers, positions: Integers, edges: Edges) -> Graph:
    """Return the graph with its nodes ordered by time.

    Nodes of the same time are ordered so that edges lead to later nodes, and otherwise by lane and
    position in the lane. Edges that still lead to an earlier node, because of a cycle, are left
    out. A node that no edge explains gets an edge of kind UNEXPLAINED from the start.
    """
    sources, targets, weights, owners, kinds = map(np.concatenate, zip(*edges.columns, strict=True))
    order = np.lexsort((positions, lanes, times))
    position = _inverse(order)
    end = len(order) - 1  # the last node stays the last
    is_tie = (times[sources] == times[targets]) & (position[targets] < end)
    if np.any(is_tie & (position[sources] > position[targets])):
        position = _topological(times, position, sources[is_tie], targets[is_tie])
        order = _inverse(position)
    times = times[order]
    sources, targets = position[sources], position[targets]
    is_forward = sources < targets
    explained = np.zeros(len(times), np.bool_)
    explained[0] = True
    explained[targets[is_forward & (weights == times[targets] - times[sources])]] = True
    rest = np.flatnonzero(~explained)
    added = Edges()
    added.add(0, rest, times[rest] - times[0], NOBODY, Kind.UNEXPLAINED)
    by_target = np.argsort(np.append(targets[is_forward], rest), kind="stable")
    columns = zip((sources, targets, weights, owners, kinds), *added.columns, strict=True)
    return Graph(
        times, *(np.append(column[is_forward], more)[by_target] for column, more in columns)
    )


def _inverse(order: Integers) -> Integers:
    """Return the position of each item in an order."""
    position = np.empty(len(order), np.int32)
    position[order] = np.arange(len(order))
    return position


def _topological(
    times: Integers, position: Integers, sources: Integers, targets: Integers
) -> Integers:
    """Return positions such that the edges, between nodes of the same time, lead forward.

    Among the nodes that can come next, the one with the smallest `position` does. If a cycle is
    left, the node with the smallest `position` comes next.
    """
    found = position.copy()
    is_backward = position[sources] > position[targets]
    affected = np.isin(times[sources], times[sources[is_backward]])
    following: dict[int, list[int]] = {}
    incoming: dict[int, int] = {}  # the number of edges that lead to a node
    groups: dict[int, set[int]] = {}
    edges = zip(sources[affected].tolist(), targets[affected].tolist(), strict=True)
    for source, target in set(edges):
        following.setdefault(source, []).append(target)
        incoming[target] = incoming.get(target, 0) + 1
        groups.setdefault(int(times[source]), set()).update((source, target))
    for group in groups.values():
        waiting = sorted(group, key=position.__getitem__)
        places = position[waiting].tolist()
        ready = [(int(position[node]), node) for node in waiting if node not in incoming]
        placed: set[int] = set()
        rest = iter(waiting)
        for place in places:
            if not ready:
                node = next(node for node in rest if node not in placed)
                ready.append((int(position[node]), node))
            _, node = heappop(ready)
            placed.add(node)
            found[node] = place
            for target in following.get(node, ()):
                incoming[target] -= 1
                if not incoming[target] and target not in placed:
                    heappush(ready, (int(position[target]), target))
    return found
