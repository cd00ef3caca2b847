"""The innermost spans of a thread, compared with a search among all its spans."""

from random import Random

import numpy as np

from ingest.conversion.critical_path.graph import NOBODY
from ingest.conversion.critical_path.nodes import Nodes
from ingest.conversion.critical_path.threads import read_threads
from tests.helpers.cases import check_each

SEEDS = range(300)
NONE = np.zeros(0, np.int64)
NO_ACTIVITIES = dict.fromkeys(("lane", "event_id", "start_ns", "end_ns", "launch_id"), NONE)


def random_nodes(seed: int) -> Nodes:
    """The nodes of up to nine spans of two threads, which may cross, be empty, or be equal."""
    random = Random(seed)
    count = random.randint(1, 9)
    starts = [(random.randint(0, 1), random.randint(0, 9)) for _ in range(count)]
    spans = sorted(
        (lane, start, -start - random.choice([0, 0, 1, 2, 4, 7])) for lane, start in starts
    )
    columns = {
        "lane": np.array([lane for lane, _, _ in spans]),
        "event_id": np.arange(count),
        "start_ns": np.array([start for _, start, _ in spans]),
        "end_ns": np.array([-end for _, _, end in spans]),
        "is_op": np.array([random.random() < 0.5 for _ in spans]).astype(np.int8),
        "is_autograd": np.zeros(count, np.int8),
    }
    return Nodes(0, 20, columns, NO_ACTIVITIES, {})


def test_the_innermost_span_is_the_open_one_that_began_last() -> None:
    def check(seed: int) -> None:
        nodes = random_nodes(seed)
        host = read_threads(nodes, None)
        assert host
        is_op = nodes.spans["is_op"].tolist()
        ops = {NOBODY: NOBODY}
        for thread in (host.main, *host.others):
            opened: list[int] = []
            for node, owner in zip(thread.nodes.tolist(), thread.owners.tolist(), strict=True):
                span = node // 2
                assert owner == (opened[-1] if opened else NOBODY)
                if node % 2:
                    opened.remove(span)
                else:
                    ops[span] = span if is_op[span] else ops[owner]
                    opened.append(span)
            assert not opened
        assert host.ops.tolist() == [ops[span] for span in range(nodes.span_count)]

    check_each(SEEDS, check)


def test_a_span_is_found_by_its_event() -> None:
    events = np.array([70, 10, 40, 20])
    nodes = Nodes(0, 1, {"event_id": events}, NO_ACTIVITIES, {})
    wanted = np.array([20, 70, 30, 10, 1_000, NOBODY, 40])
    assert nodes.spans_of(wanted).tolist() == [3, 0, NOBODY, 1, NOBODY, NOBODY, 2]
    without_spans = Nodes(0, 1, {"event_id": NONE}, NO_ACTIVITIES, {})
    assert without_spans.spans_of(wanted).tolist() == [NOBODY] * len(wanted)
