"""The longest path of a graph, and its length if something took no time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ingest.pipeline.critical_path.graph import Graph, Integers


def longest_path(graph: Graph) -> Integers:
    """The edges of the longest path from the first node to the last, in order.

    Of two that are as long up to a node, it is the one whose edge comes first in the graph: edges
    that decided when an activity began come before those that did not.
    """
    reached = [-1] * len(graph.times)
    reached[0] = 0
    last_edge = [-1] * len(graph.times)
    columns = (graph.sources.tolist(), graph.targets.tolist(), graph.weights.tolist())
    for edge, (source, target, weight) in enumerate(zip(*columns, strict=True)):
        length = reached[source] + weight
        if length > reached[target]:
            reached[target] = length
            last_edge[target] = edge
    path: list[int] = []
    node = len(graph.times) - 1
    while node:
        path.append(last_edge[node])
        node = columns[0][path[-1]]
    return np.array(path[::-1], np.int64)


def lengths_without(graph: Graph, removed: Sequence[npt.NDArray[np.bool_]]) -> Integers:
    """How long the longest path is, ns, if the edges of a mask weigh nothing: for each mask."""
    chains = _chains(graph)
    left = np.flatnonzero(~chains.is_inner[graph.targets])
    sources, last = graph.sources[left], len(graph.times) - 1
    weights = np.empty((len(left), len(removed)), np.int64)
    rest = np.empty(len(removed), np.int64)
    for place, mask in enumerate(removed):
        kept = np.where(mask, 0, graph.weights)
        since_first = chains.since_first(kept)
        weights[:, place] = kept[left] + since_first[sources]
        rest[place] = since_first[last]
    row = np.cumsum(~chains.is_inner) - 1  # of the nodes that are left
    reached = np.zeros((row[-1] + 1, len(removed)), np.int64)
    firsts = row[chains.first]
    edges = zip(firsts[sources].tolist(), row[graph.targets[left]].tolist(), weights, strict=True)
    maximum = np.maximum
    for source, target, weight in edges:
        maximum(reached[target], reached[source] + weight, out=reached[target])
    lengths: Integers = reached[firsts[last]] + rest
    return lengths


@dataclass(frozen=True)
class _Chains:
    """Nodes that one edge alone leads to, from the node before: most spans on a thread.

    For each node: whether it is such an inner node, its `edge`, and the `first` node of its chain.
    `order` has the nodes chain by chain; `begins` has where in it the chain of each one begins.
    """

    is_inner: npt.NDArray[np.bool_]
    edge: Integers
    first: Integers
    order: Integers
    begins: Integers

    def since_first(self, weights: Integers) -> Integers:
        """What the edges from the first node of its chain to each node weigh."""
        inner = np.where(self.is_inner, weights[self.edge], 0)
        sums = np.cumsum(inner[self.order])
        since = np.empty_like(sums)
        since[self.order] = sums - sums[self.begins]
        return since


def _chains(graph: Graph) -> _Chains:
    count = len(graph.times)
    edge = np.searchsorted(graph.targets, np.arange(count))
    single = np.flatnonzero(np.bincount(graph.targets, minlength=count) == 1)
    # Where a node is the only source of several nodes, its chain goes on with the first of them.
    _, firsts = np.unique(graph.sources[edge[single]], return_index=True)
    inner = single[firsts]
    is_inner = np.zeros(count, np.bool_)
    is_inner[inner] = True
    first, depth = np.arange(count), is_inner.astype(np.int64)
    first[inner] = graph.sources[edge[inner]]
    edge[~is_inner] = 0
    while np.any((further := first[first]) != first):
        depth += depth[first]
        first = further
    order = np.lexsort((depth, first))
    begins = np.maximum.accumulate(np.where(depth[order] == 0, np.arange(count), 0))
    return _Chains(is_inner, edge, first, order, begins)
