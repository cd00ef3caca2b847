"""The graph of a step: dependencies between starts and ends of its spans and activities.

A node is the start or the end of a span on the host, or of an activity on a device. An edge leads
from a node to a later one that had to wait for it. Its weight is the time that must pass between
them. Each node has an incoming edge whose weight is all the time since its source, which is the
node that it actually waited for. So the longest path to the last node is as long as the step, and
consists of the edges that the step waited for.
"""

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
NOBODY = -1  # the owner of time between operators


class Kind(IntEnum):
    """The kind of an edge. `critical_path_kinds` has their descriptions."""

    COMMUNICATION = 0
    COMPUTE = 1
    COPY = 2
    HOST = 3  # a span's own time, or Python between operators
    LAUNCH = 4  # from a call to the start of the activity that it launched
    QUEUE = 5  # between two activities of a stream
    DEPENDENCY = 6  # from the end of an activity to the start of one on another stream
    SYNC = 7  # from the end of the awaited activity to the end of the host's wait
    THREAD = 8  # from one thread to another
    UNEXPLAINED = 9  # a wait that no event explains


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
        columns = np.broadcast_arrays(*(np.asarray(column, np.int64) for column in values))
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
    """Return the graph with its nodes ordered by time, then lane, then position in the lane.

    Edges that lead to an earlier node are left out: they connect nodes of the same time. A node
    that no edge explains gets an edge of kind UNEXPLAINED from the start.
    """
    order = np.lexsort((positions, lanes, times))
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    times = times[order]
    sources, targets, weights, owners, kinds = map(np.concatenate, zip(*edges.columns, strict=True))
    sources, targets = position[sources], position[targets]
    is_forward = sources < targets
    explained = np.zeros(len(times), np.bool_)
    explained[0] = True
    explained[targets[is_forward & (weights == times[targets] - times[sources])]] = True
    rest = np.flatnonzero(~explained)
    added = (np.zeros_like(rest), rest, times[rest] - times[0], rest * 0 + NOBODY)
    columns = [
        np.concatenate([column[is_forward], more])
        for column, more in zip(
            (sources, targets, weights, owners, kinds),
            (*added, rest * 0 + Kind.UNEXPLAINED),
            strict=True,
        )
    ]
    by_target = np.argsort(columns[1], kind="stable")
    return Graph(times, *(column[by_target] for column in columns))
