"""Measures the time to find critical paths of steps: `python benchmarks/critical_path.py`.

The steps grow in size. They have operators on the host, each with a call that launches a kernel,
and four streams. "path s" is the time to build the graph and find its longest path. "gains s" is
the time to find the path again without each of the names that take most of it. Both are the fastest
of three in one process. "peak MB" is the peak memory of Python and numpy. The script checks no
limits, because times depend on the machine.
"""

import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path[0] = str(ROOT)  # otherwise `import ingest` finds benchmarks/ingest.py

from ingest.cli.terminal import results, table  # noqa: E402
from ingest.conversion.critical_path.find import build_graph  # noqa: E402
from ingest.conversion.critical_path.gains import gains, labels_of  # noqa: E402
from ingest.conversion.critical_path.longest import longest_path  # noqa: E402
from ingest.conversion.critical_path.nodes import Nodes  # noqa: E402
from ingest.conversion.critical_path.threads import read_threads  # noqa: E402

EVENTS = (25_000, 100_000, 400_000)
OP_NS, CALL_NS = 10_000, 4_000
STREAMS, NAMES = 4, 200
COLUMNS = ("events", "nodes", "path s", "gains s", "peak MB")


def step(events: int) -> Nodes:
    """Build a step of operators, calls and kernels, a third each. Kernels outlast their launch."""
    count = events // 3
    rng = np.random.default_rng(0)
    begins = np.arange(count) * OP_NS
    kernel_ns = rng.integers(2_000, 70_000, count)
    stream = rng.integers(0, STREAMS, count)
    starts = np.empty(count, np.int64)
    free = [0] * STREAMS
    for index, (lane, launched) in enumerate(zip(stream.tolist(), begins.tolist(), strict=True)):
        starts[index] = max(free[lane] + 1_000, launched + 2 * CALL_NS)
        free[lane] = int(starts[index] + kernel_ns[index])
    number = np.arange(count)
    none, ones = np.zeros(count, np.int64), np.ones(count, np.int64)
    names = (number % NAMES + 1).astype(np.uint64)
    pairs = {
        "lane": (none, none),
        "event_id": (2 * number, 2 * number + 1),
        "start_ns": (begins, begins + CALL_NS // 2),
        "end_ns": (begins + OP_NS, begins + CALL_NS // 2 + CALL_NS),
        "wait": (none, none),
        "cause": (none.astype(np.int8), none.astype(np.int8)),
        "is_annotation": (none, none),
        "is_op": (ones, none),
        "is_autograd": (none, none),
        "call_label": (names, names * 0 + NAMES + 1),
        "op_label": (names, names * 0),
        "module_label": (names * 0, names * 0),
    }
    spans = {name: np.column_stack(pair).reshape(-1) for name, pair in pairs.items()}
    order = np.lexsort((starts, stream))
    activities = {
        "lane": stream,
        "device": none,
        "event_id": 2 * count + number,
        "start_ns": starts,
        "end_ns": starts + kernel_ns,
        "launch_id": 2 * number + 1,
        "launch_ns": begins + CALL_NS // 2,
        "class": ones,
        "is_own": ones,
        "kernel_label": names + NAMES + 1,
        "op_label": names,
        "module_label": names * 0,
        "waited_ns": names * 0 - 1,
    }
    end_ns = int(max(spans["end_ns"].max(), activities["end_ns"].max()))
    syncs = dict.fromkeys(
        ("waits_on_host", "device", "lane", "awaited_lane", "call_id", "before_ns"), none[:0]
    )
    return Nodes(0, end_ns, spans, {name: each[order] for name, each in activities.items()}, syncs)


def measured(events: int) -> tuple[str, ...]:
    """Measure a step of this size. Return its row of the table."""
    seconds = []
    for _ in range(3):
        nodes = step(events)
        began = time.perf_counter()
        host = read_threads(nodes, None)
        graph = build_graph(nodes, host)
        path = longest_path(graph)
        found = time.perf_counter()
        gains(graph, path, labels_of(nodes, host))
        seconds.append((found - began, time.perf_counter() - found))
    nodes = step(events)
    tracemalloc.start()
    host = read_threads(nodes, None)
    graph = build_graph(nodes, host)
    gains(graph, longest_path(graph), labels_of(nodes, host))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    of_path, of_gains = (f"{min(each):.2f}" for each in zip(*seconds, strict=True))
    return f"{events:,}", f"{len(graph.times):,}", of_path, of_gains, f"{peak / 1e6:.0f}"


if __name__ == "__main__":
    results().print(table(COLUMNS, [measured(events) for events in EVENTS]))
