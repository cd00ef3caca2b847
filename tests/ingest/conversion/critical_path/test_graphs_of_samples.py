"""The graphs of the steps of a few samples: what each node waited for."""

import shutil

import numpy as np
import pytest

from ingest.conversion.critical_path import find
from ingest.conversion.critical_path.graph import Edges, Graph
from ingest.conversion.critical_path.nodes import Nodes
from ingest.conversion.critical_path.streams import add_streams
from ingest.conversion.critical_path.threads import Host
from tests.builders import relations
from tests.helpers.samples import TWO_RANKS, Samples

RUNS = ["alexnet_cuda_sync", "mi210_gpu_only", "mi300_torch_compile_triton", "mtia_inference"]
RUNS += [TWO_RANKS, "misc_backward_threads"]
Built = list[tuple[Nodes, Graph]]


@pytest.fixture(scope="module", params=RUNS)
def built(
    request: pytest.FixtureRequest, sampled: Samples, tmp_path_factory: pytest.TempPathFactory
) -> Built:
    """The nodes and graphs of a run's steps."""
    graphs: Built = []
    build = find.build_graph

    def keep(nodes: Nodes, host: Host | None) -> Graph:
        graphs.append((nodes, build(nodes, host)))
        return graphs[-1][1]

    directory = tmp_path_factory.mktemp("run")
    for file in sampled.files(request.param):
        shutil.copy(file, directory)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(find, "build_graph", keep)
        relations.built(directory, "critical_paths")
    assert graphs
    return graphs


def test_each_node_has_an_edge_that_takes_all_the_time_since_its_source(built: Built) -> None:
    for _, graph in built:
        spans = graph.times[graph.targets] - graph.times[graph.sources]
        assert (graph.weights >= 0).all()
        assert (graph.weights <= spans).all()
        explained = np.unique(graph.targets[graph.weights == spans])
        assert explained.tolist() == list(range(1, len(graph.times)))


def test_edges_lead_to_later_nodes(built: Built) -> None:
    for _, graph in built:
        assert (graph.sources < graph.targets).all()
        assert (np.diff(graph.targets) >= 0).all()
        assert (np.diff(graph.times) >= 0).all()


def test_each_launch_within_a_step_has_an_edge(built: Built) -> None:
    for nodes, _ in built:
        activities, spans = nodes.activities, nodes.spans
        is_launched = np.isin(activities["launch_id"], spans["event_id"])
        is_launched &= activities["launch_ns"] < activities["start_ns"]
        edges = Edges()
        add_streams(nodes, edges)
        if not edges.columns:
            assert not is_launched.any()
            continue
        sources, targets = map(np.concatenate, list(zip(*edges.columns, strict=True))[:2])
        is_launch = sources < 2 * nodes.span_count
        found = targets[is_launch]
        assert sorted(found) == (2 * nodes.activity_owners[is_launched]).tolist()
        # Each edge begins at the activity's call.
        calls = spans["event_id"][sources[is_launch] // 2]
        launched = activities["launch_id"][found // 2 - nodes.span_count]
        assert calls.tolist() == launched.tolist()
