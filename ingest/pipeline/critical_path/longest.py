"""The longest path of a graph, and its length if something took no time."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ingest.pipeline.critical_path.graph import Graph, Integers


def longest_path(graph: Graph) -> Integers:
    """The edges of the longest path from the first node to the last, in order.

    Of two that are as long up to a node, it is the one whose edge comes first in the graph.
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
    kept = ~np.column_stack(removed) if removed else np.zeros((len(graph.weights), 0), np.bool_)
    weights = kept * graph.weights[:, None]
    reached = np.zeros((len(graph.times), len(removed)), np.int64)
    edges = zip(graph.sources.tolist(), graph.targets.tolist(), weights, strict=True)
    maximum = np.maximum
    for source, target, weight in edges:
        maximum(reached[target], reached[source] + weight, out=reached[target])
    lengths: Integers = reached[-1]
    return lengths
