"""The longest path of a graph, and its length without the weights of some edges."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ingest.conversion.critical_path.graph import Graph, Integers


def longest_path(graph: Graph) -> Integers:
    """Return the edges of the longest path from the first node to the last, in order.

    It is as long as the step: each of its edges weighs all the time since its source. If several
    edges to a node weigh that much, the first one in the graph wins: edges that decided when an
    activity began come before those that did not.
    """
    is_tight = graph.weights == graph.times[graph.targets] - graph.times[graph.sources]
    edges = np.flatnonzero(is_tight)
    is_first = np.diff(graph.targets[edges], prepend=0) > 0
    of_node = np.zeros(len(graph.times), np.int64)
    of_node[graph.targets[edges[is_first]]] = edges[is_first]
    # Indexing a memoryview gives a Python integer. A list would hold all of them at once.
    edge_to, node_before = of_node.data, graph.sources[of_node].data
    path: list[int] = []
    node = len(graph.times) - 1
    while node:
        path.append(edge_to[node])
        node = node_before[node]
    return np.array(path[::-1], np.int64)


def lengths_without(graph: Graph, masks: Iterable[npt.NDArray[np.bool_]], count: int) -> Integers:
    """Return, for each mask, the longest path's length, ns, if the mask's edges weigh nothing.

    `masks`: `count` masks of the edges. Only one of them is in memory at a time.
    """
    chains = _chains(graph)
    left = np.flatnonzero(~chains.is_inner[graph.targets])
    sources, last = graph.sources[left], len(graph.times) - 1
    weights = np.empty((len(left), count), np.int64)
    rest = np.empty(count, np.int64)
    for column, mask in zip(range(count), masks, strict=True):
        kept = np.where(mask, 0, graph.weights)
        since_first = chains.since_first(kept)
        weights[:, column] = kept[left] + since_first[sources]
        rest[column] = since_first[last]
    row = np.cumsum(~chains.is_inner) - 1  # numbers the nodes that are not inside a chain
    reached = np.zeros((row[-1] + 1, count), np.int64)
    firsts = row[chains.first]
    edges = zip(firsts[sources].tolist(), row[graph.targets[left]].tolist(), weights, strict=True)
    maximum = np.maximum
    for source, target, weight in edges:
        maximum(reached[target], reached[source] + weight, out=reached[target])
    lengths: Integers = reached[firsts[last]] + rest
    return lengths


@dataclass(frozen=True)
class _Chains:
    """Chains of nodes with a single incoming edge, from the previous node: most spans of a thread.

    For each node: `is_inner` (whether it is such a node), the incoming `edge` of an inner node, and
    the `first` node of its chain. `order`: the nodes chain by chain. `begins`: for each item of
    `order`, the index at which its chain begins.
    """

    is_inner: npt.NDArray[np.bool_]
    edge: Integers
    first: Integers
    order: Integers
    begins: Integers

    def since_first(self, weights: Integers) -> Integers:
        """Return for each node the weight of the edges from the first node of its chain."""
        inner = np.where(self.is_inner, weights[self.edge], 0)
        sums = np.cumsum(inner[self.order])
        since = np.empty_like(sums)
        since[self.order] = sums - sums[self.begins]
        return since


def _chains(graph: Graph) -> _Chains:
    count = len(graph.times)
    edge = np.searchsorted(graph.targets, np.arange(count))
    single = np.flatnonzero(np.bincount(graph.targets, minlength=count) == 1)
    # If a node is the only source of several nodes, its chain continues with the first of them.
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
