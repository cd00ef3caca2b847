"""The longest path, and its length without some edges, compared with all paths of small graphs."""

from collections.abc import Iterator
from random import Random

import numpy as np

from ingest.conversion.critical_path.graph import NOBODY, Edges, Graph, Kind, in_order
from ingest.conversion.critical_path.longest import lengths_without, longest_path
from tests.helpers.cases import check_each

SEEDS = range(200)


def random_graph(seed: int) -> Graph:
    """A graph of up to nine nodes: each has an edge from an earlier one, some have several.

    Weights are few and often 0, so that many paths are as long as each other.
    """
    random = Random(seed)
    count = random.randint(2, 9)
    edges: list[tuple[int, int, int]] = []
    for target in range(1, count):
        for _ in range(random.randint(1, 3)):
            edges.append((random.randrange(target), target, random.choice([0, 0, 1, 2, 3])))
    sources, targets, weights = map(np.array, zip(*edges, strict=True))
    nobody = np.full(len(edges), NOBODY)
    return Graph(np.arange(count), sources, targets, weights, nobody, nobody)


def random_step(seed: int) -> Graph:
    """The graph of a step of 12 ns with up to eight nodes, with any edges that lead forward."""
    random = Random(seed)
    count = random.randint(2, 8)
    times = np.array([0, *(random.randint(0, 12) for _ in range(count - 2)), 12])
    lanes, positions = np.zeros(count, np.int64), np.arange(count)
    lanes[-1] = 1  # the end of the step comes last
    edges = Edges()
    for _ in range(random.randint(1, 12)):
        source, target = random.sample(range(count), 2)
        if times[source] <= times[target]:
            since = int(times[target] - times[source])
            weight = random.choice([since, random.randint(0, since)])
            edges.add(source, target, weight, NOBODY, Kind.HOST)
    if not edges.columns:
        edges.add(0, count - 1, 0, NOBODY, Kind.HOST)
    return in_order(times, lanes, positions, edges)


def paths_to(graph: Graph, node: int) -> Iterator[list[int]]:
    """Yield all paths from the first node to a node, each as a list of edges."""
    if node == 0:
        yield []
    for edge in np.flatnonzero(graph.targets == node).tolist():
        for path in paths_to(graph, int(graph.sources[edge])):
            yield [*path, edge]


def longest_to(graph: Graph, node: int, weights: np.ndarray) -> int:
    """Return the length of the longest path to a node."""
    return max(int(weights[path].sum()) if path else 0 for path in paths_to(graph, node))


def test_no_path_is_longer_and_the_first_of_equal_ones_wins() -> None:
    def check(seed: int) -> None:
        graph = random_step(seed)
        path = longest_path(graph).tolist()
        lengths = [longest_to(graph, node, graph.weights) for node in range(len(graph.times))]
        assert graph.weights[path].sum() == lengths[-1]
        # Go back from the end: take the first of the edges that are on a longest path to the node.
        node = len(graph.times) - 1
        for edge in reversed(path):
            best = [
                e
                for e in np.flatnonzero(graph.targets == node).tolist()
                if lengths[graph.sources[e]] + graph.weights[e] == lengths[node]
            ]
            assert edge == best[0]
            node = int(graph.sources[edge])
        assert node == 0

    check_each(SEEDS, check)


def test_lengths_without_some_edges() -> None:
    def check(seed: int) -> None:
        graph = random_graph(seed)
        random = np.random.default_rng(seed)
        count = len(graph.weights)
        masks = [np.zeros(count, np.bool_), np.ones(count, np.bool_)]
        masks += [random.random(count) < share for share in (0.2, 0.5, 0.8)]
        last = len(graph.times) - 1
        expected = [longest_to(graph, last, np.where(mask, 0, graph.weights)) for mask in masks]
        assert lengths_without(graph, masks, len(masks)).tolist() == expected

    check_each(SEEDS, check)


def test_no_masks_have_no_lengths() -> None:
    assert lengths_without(random_graph(0), [], 0).tolist() == []


def test_a_step_is_as_long_as_its_longest_path() -> None:
    """With any edges, `in_order` adds unexplained ones, and no path is longer than the step."""

    def check(seed: int) -> None:
        graph = random_step(seed)
        path = longest_path(graph)
        assert (
            graph.weights[path].sum()
            == 12
            == longest_to(graph, len(graph.times) - 1, graph.weights)
        )
        # The edges follow each other without a gap, and each takes all the time since its source.
        assert graph.sources[path].tolist() == [0, *graph.targets[path][:-1]]
        spans = graph.times[graph.targets] - graph.times[graph.sources]
        assert (graph.weights[path] == spans[path]).all()
        assert (graph.weights <= spans).all()

    check_each(SEEDS, check)
