"""The time that a step would gain if something on its critical path took no time."""

import numpy as np
import numpy.typing as npt

from ingest.conversion.critical_path.graph import NOBODY, Graph, Integers, Kind
from ingest.conversion.critical_path.longest import lengths_without
from ingest.conversion.critical_path.nodes import Nodes
from ingest.conversion.critical_path.threads import Host

KINDS = [kind.name.lower() for kind in Kind]
LEVELS = ("kind", "call", "op", "kernel", "module")
MAX_LABELS = 8  # of a level, for which gains are computed
NO_LABEL = 0


def labels_of(nodes: Nodes, host: Host | None) -> list[npt.NDArray[np.uint64]]:
    """Return for each level but the first the label of every owner, or 0.

    The last item is for edges without an owner, because NOBODY is -1.
    """
    none = np.zeros(len(nodes.activity_owners), np.uint64)
    ops = host.ops if host else np.zeros(0, np.int64)
    of_span = {
        name: np.where(ops == NOBODY, NO_LABEL, nodes.spans[name][ops]).astype(np.uint64)
        for name in ("op_label", "module_label")
    }
    labels = [
        np.concatenate([nodes.spans["call_label"].astype(np.uint64), none]),
        np.concatenate([of_span["op_label"], nodes.activities["op_label"]]),
        np.concatenate([np.zeros_like(ops, np.uint64), nodes.activities["kernel_label"]]),
        np.concatenate([of_span["module_label"], nodes.activities["module_label"]]),
    ]
    return [np.append(each.astype(np.uint64), np.uint64(NO_LABEL)) for each in labels]


def gains(
    graph: Graph, edges: Integers, labels: list[npt.NDArray[np.uint64]]
) -> list[tuple[str, str | None, int, int]]:
    """Return the rows of `path_gains` for the labels that take the most time on the path.

    `labels`: those of owners. The label of an edge's kind is its number plus 1.
    """
    owners = graph.owners[edges]
    on_edges = [
        graph.kinds[edges].astype(np.uint64) + np.uint64(1),
        *(each[owners] for each in labels),
    ]
    candidates: list[tuple[int, int]] = []
    for level, of_edges in enumerate(on_edges):
        found, inverse = np.unique(of_edges, return_inverse=True)
        on_path = np.bincount(inverse, graph.weights[edges], len(found))
        on_path[found == NO_LABEL] = 0
        longest = np.argsort(-on_path, kind="stable")[: MAX_LABELS if level else len(Kind)]
        candidates += [(level, int(found[at])) for at in longest if on_path[at] > 0]
    step_ns = int(graph.times[-1] - graph.times[0])
    masks = (
        (labels[level - 1] == label)[graph.owners] if level else graph.kinds == label - 1
        for level, label in candidates
    )
    lengths = lengths_without(graph, masks, len(candidates))
    return [
        (LEVELS[level], None, label, step_ns - length)
        if level
        else (LEVELS[level], KINDS[label - 1], NO_LABEL, step_ns - length)
        for (level, label), length in zip(candidates, lengths.tolist(), strict=True)
    ]
