"""The graph of a step: what had to end before what could begin.

A node is the start or the end of a span on the host, or of an activity on a device. An edge leads
from a node to a later one that had to wait for it, and weighs the time that must pass between them.
Each node has an edge into it that weighs all the time since its source: the one that it really
waited for. So the longest path to the last node is as long as the step, and leads over the edges
that the step waited for.
"""

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
NOBODY = -1  # the owner of a stretch between operators


class Kind(IntEnum):
    """What happens on an edge; `critical_path_kinds` has the texts."""

    COMMUNICATION = 0
    COMPUTE = 1
    COPY = 2
    HOST = 3  # a span's own time, or Python between operators
    LAUNCH = 4  # from a call to the start of what it launched
    QUEUE = 5  # between two activities of a stream
    DEPENDENCY = 6  # from the end of an activity to the start of one on another stream
    SYNC = 7  # from the end of what the host waited for to the end of its wait
    THREAD = 8  # from one thread to another
    UNEXPLAINED = 9  # a wait that no event explains


@dataclass
class Edges:
    """Edges as columns: nodes, weight (ns), the owner's number and the kind."""

    columns: list[tuple[Integers, ...]] = field(default_factory=list)

    def add(
        self,
        sources: npt.ArrayLike,
        targets: npt.ArrayLike,
        weights: npt.ArrayLike,
        owners: npt.ArrayLike,
        kinds: npt.ArrayLike,
    ) -> None:
        """Adds edges; owners and kinds can be one for all."""
        given = (sources, targets, weights, owners, kinds)
        columns = np.broadcast_arrays(*(np.asarray(column, np.int64) for column in given))
        self.columns.append(tuple(np.atleast_1d(column) for column in columns))


@dataclass(frozen=True)
class Graph:
    """Nodes in an order in which every edge leads on; edges in the order of their targets.

    The first node is the start of the step, the last one its end. `times` are ns.
    """

    times: Integers
    sources: Integers
    targets: Integers
    weights: Integers
    owners: Integers
    kinds: Integers


def in_order(times: Integers, lanes: Integers, places: Integers, edges: Edges) -> Graph:
    """The graph with its nodes in order of time; at one time by lane, and there by place.

    Edges that do not lead on in this order are left out: they connect nodes of the same time. A
    node that none of its edges explains gets an unexplained one from the start.
    """
    order = np.lexsort((places, lanes, times))
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    times = times[order]
    sources, targets, weights, owners, kinds = map(np.concatenate, zip(*edges.columns, strict=True))
    sources, targets = position[sources], position[targets]
    lead_on = sources < targets
    explained = np.zeros(len(times), np.bool_)
    explained[0] = True
    explained[targets[lead_on & (weights == times[targets] - times[sources])]] = True
    left = np.flatnonzero(~explained)
    added = (np.zeros_like(left), left, times[left] - times[0], left * 0 + NOBODY)
    columns = [
        np.concatenate([column[lead_on], more])
        for column, more in zip(
            (sources, targets, weights, owners, kinds),
            (*added, left * 0 + Kind.UNEXPLAINED),
            strict=True,
        )
    ]
    by_target = np.argsort(columns[1], kind="stable")
    return Graph(times, *(column[by_target] for column in columns))
