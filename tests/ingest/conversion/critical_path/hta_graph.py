"""The critical path of one annotation by the rules of HTA 0.6.1, in plain Python.

This is the graph of `hta/analyzers/critical_path_analysis.py`. It follows HTA even if HTA loses
time: edges between top-level operators have no weight, so a path is shorter than its step. Events
with the same time keep the order of the file. HTA sorts unstably, so its order is undefined.
"""

import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import Any, NamedTuple

from tests.ingest.conversion.critical_path.hta_events import (
    DEVICE_SYNC,
    Event,
    Events,
    clip,
    drop_last_step,
    event_kernels,
    queue_lengths,
    read_events,
)

OPERATOR, DEPENDENCY, SYNC = "OPERATOR_KERNEL", "DEPENDENCY", "SYNC_DEPENDENCY"
LAUNCH, GAP = "KERNEL_LAUNCH_DELAY", "KERNEL_KERNEL_DELAY"
BOUND_BY = {LAUNCH: "gpu_kernel_launch_overhead", GAP: "gpu_kernel_kernel_overhead"}
LONGEST_GAP = 1500  # µs; HTA adds no kernel-kernel edge across a gap of this length or more
BLOCKING = {f"cuda{call}Synchronize" for call in ("Device", "Stream", "Event")}
BLOCKING |= {"cudaEventQuery", "cudaMemcpy", "cudaMemcpyAsync"}
LOCKING = {"cudaHostAlloc", "cudaLaunchKernel", "cudaMemcpyAsync"}
LAUNCHING = {f"{api}{call}Async" for api in ("cuda", "hip") for call in ("Memcpy", "Memset")}
LAUNCHING |= {"cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx"}
LAUNCHING |= {"hipLaunchKernel", "hipExtModuleLaunchKernel", "hipMemcpyWithStream"}
COMMUNICATION = re.compile(r"^nccl|^hip|^hccl|.*ncclKernel")


class Node(NamedTuple):  # nodes sort by time, then event, starts first
    ts: int
    event: int
    is_end: bool


class Edge(NamedTuple):
    begin: Node
    end: Node  # end.ts - begin.ts is the elapsed time
    type: str
    weight: int  # µs that HTA counts
    bound_by: str  # kind of bottleneck, or "" for types whose weight is always 0


@dataclass
class Path:
    nodes: int  # number of the graph's nodes, including nodes without edges
    edges_by_type: Counter[str]  # number of the graph's edges
    edges: list[Edge]  # edges of the longest path, in order
    weight: int  # µs, the sum over `edges`
    summary: dict[str, float]  # bound_by -> percent of `weight`


class Graph:
    """A graph of the starts and ends of a window's events. Two nodes have at most one edge."""

    def __init__(self, events: Events) -> None:
        host = {"cpu_op", "cuda_runtime", "cuda_driver"}
        device = [e for e in events.values() if e.stream != -1 and e.link >= 0]
        shown = [e for e in events.values() if e.category in host] + device
        starts, ends = ({Node((e.ts, e.end)[i], e.id, i > 0) for e in shown} for i in (0, 1))
        self.nodes = sorted(starts | ends)
        self.start = {n.event: i for i, n in enumerate(self.nodes) if not n.is_end}
        self.end = {n.event: i for i, n in enumerate(self.nodes) if n.is_end}
        self.locking = [i for i, n in enumerate(self.nodes) if events[n.event].name in LOCKING]
        self.edges: dict[tuple[int, int], Edge] = {}
        self.events = events

    def add(self, u: int, v: int, type: str, parent: int = -1, free: bool = False) -> None:
        """Add an edge, or replace the existing one. `parent` owns the time between children."""
        begin, end = self.nodes[u], self.nodes[v]
        bound_by = BOUND_BY.get(type, "")
        if type == OPERATOR:
            inside = end.event if end.is_end else parent
            owner = self.events[inside if begin.is_end else begin.event]
            kind = "communication" if COMMUNICATION.match(owner.name) else "compute"
            bound_by = "cpu_bound" if owner.stream < 0 else f"gpu_{kind}_bound"
        weight = 0 if free or type in {DEPENDENCY, SYNC} else end.ts - begin.ts
        self.edges[u, v] = Edge(begin, end, type, weight, bound_by)


def add_lock_edges(graph: Graph) -> None:
    """Link overlapping locking calls of all threads.

    Each call has weight, even if it does not block.
    """
    started: list[int] = []
    last = -1
    for i in graph.locking:
        if not graph.nodes[i].is_end:
            started.append(i)
        else:
            while started:
                same = graph.nodes[started[-1]].event == graph.nodes[i].event
                graph.add(started.pop(), i, OPERATOR if same else DEPENDENCY)
            if graph.nodes[last].is_end:
                graph.add(last, i, DEPENDENCY)  # the call that ended first held the lock
        last = i


def add_host_edges(graph: Graph) -> None:
    """Chain each thread's nodes. A single backward thread joins the forward one."""
    named = [e for e in graph.events.values() if e.category in {"cpu_op", "user_annotation"}]
    forward, backward = ({e.tid for e in named if w in e.name} for w in ("forward", "autograd"))
    merge = len(forward) == len(backward) == 1
    threads = defaultdict(list)
    for e in graph.events.values():
        tid = min(forward) if merge and e.tid in backward else e.tid
        threads[e.pid, tid].append(e)
    for _, events in sorted(threads.items(), key=lambda item: tuple(map(str, item[0]))):
        if all(e.stream < 0 for e in events):
            add_thread_edges(graph, events)


def add_thread_edges(graph: Graph, events: list[Event]) -> None:
    """Chain nodes in call stack order. Only edges inside a top-level call have weight."""
    # Of events with the same time, longer ones start first and end last.
    moments = [(e.ts, 1, e.ts - e.end, e.id) for e in events]
    moments += [(e.end, 0, e.end - e.ts, -e.id) for e in events]
    stack: list[tuple[int, int]] = []  # an event and its parent
    last, last_parent, depth = -1, -1, 0
    locking = set(graph.locking)
    for _, starts, _, id in sorted(moments):
        if starts:
            stack.append((id, stack[-1][0] if stack else -1))
        event, parent = stack[-1] if starts else stack.pop()
        if event not in graph.start:
            continue  # annotations and Python frames have no nodes
        node = graph.start[event] if starts else graph.end[event]
        linked = {last, node} <= locking and not (starts and graph.nodes[last].is_end)
        if last >= 0 and not linked:  # add_lock_edges() links the others
            free = not starts and graph.events[event].name in BLOCKING
            between = starts and depth == 0
            graph.add(last, node, DEPENDENCY if between else OPERATOR, last_parent, free)
        last, last_parent, depth = node, parent, depth + (1 if starts else -1)


def add_device_edges(graph: Graph, full: Events) -> None:
    """Tie each kernel to its launch or to the kernel before it, and each wait to its kernel."""
    launches = [e for e in full.values() if e.name in LAUNCHING and e.link > 0]
    launches.sort(key=lambda e: e.ts)
    queued = queue_lengths(full, launches)
    recorded, waiting = event_kernels(full, launches)
    device = [e for e in graph.events.values() if e.stream != -1 or e.name in DEVICE_SYNC]
    device.sort(key=lambda e: e.end if e.category == "cuda_sync" else e.ts)
    last: dict[int, int] = {}  # stream -> end of its last kernel
    awaited: dict[int, int] = {}  # kernel -> the kernel of another stream that it waits for
    for e in (e for e in device if e.link >= 0):
        if e.name == "Stream Wait Event":
            if recorded.get(e.record, -1) >= 0:
                awaited[waiting.get(e.link, -1)] = recorded[e.record]
        elif e.category == "cuda_sync":
            ends = [last.get(e.stream), *last.values()]
            if e.name == "Event Sync":
                ends = [graph.end.get(recorded.get(e.record, -1))]
            for end in ends if e.name == "Context Sync" else ends[:1]:
                if end is not None and e.link in graph.end:
                    graph.add(end, graph.end[e.link], SYNC)
        else:
            start = graph.start[e.id]
            graph.add(start, graph.end[e.id], OPERATOR)
            before, awaits = last.get(e.stream), graph.end.get(awaited.pop(e.id, -1))
            if awaits is not None:
                if graph.events[graph.nodes[awaits].event].stream == e.stream:
                    raise ValueError(f"kernel {e.id} waits for one of its own stream")
                graph.add(awaits, start, SYNC)
            free, ready = (-math.inf if n is None else graph.nodes[n].ts for n in (before, awaits))
            alone = queued.get(e.link) == 1 and queued.get(e.id) == 0
            if alone and max(free, ready) < full[e.link].ts:
                if e.link not in graph.start:
                    raise ValueError(f"launch {e.link} is no runtime call")
                graph.add(graph.start[e.link], start, LAUNCH)
            elif before is not None and ready < free and e.ts - free < LONGEST_GAP:
                graph.add(before, start, GAP)
            last[e.stream] = graph.end[e.id]


def longest_path(graph: Graph) -> list[Edge]:
    """Find the longest path as networkx does: of equal paths, the one that was added first."""
    sorter: TopologicalSorter[int] = TopologicalSorter()
    sources = defaultdict(list)
    for u, v in graph.edges:
        sorter.add(u)
        sorter.add(v, u)
        sources[v].append(u)
    # Node -> length of the longest path to it, previous node.
    longest: dict[int, tuple[int, int]] = {}
    for v in sorter.static_order():
        to_v = [(longest[u][0] + max(0, graph.edges[u, v].weight), u) for u in sources[v]]
        longest[v] = max(to_v, key=lambda pair: pair[0], default=(0, v))
    if not longest:
        raise ValueError("the window holds no edge")
    path = [max(longest, key=lambda n: longest[n][0])]
    while longest[path[-1]][1] != path[-1]:
        path.append(longest[path[-1]][1])
    return [graph.edges[edge] for edge in pairwise(reversed(path))]


def critical_path(trace: dict[str, Any], annotation: str, instance: int) -> Path:
    """Find the critical path of the `instance`-th event whose name contains `annotation`.

    Raise ValueError if HTA returns no path: no such event, no edge, a cycle, a wait of a kernel for
    its own stream, or a launch of an unknown category.
    """
    events = drop_last_step(read_events(trace))
    graph = Graph(clip(events, annotation, instance))
    add_lock_edges(graph)
    add_host_edges(graph)
    add_device_edges(graph, events)
    path = longest_path(graph)
    weights: Counter[str] = Counter()
    for e in path:
        weights[e.bound_by] += e.weight
    summary = {kind: 100 * weights[kind] / (weights.total() or 1) for kind in weights if kind}
    types = Counter(e.type for e in graph.edges.values())
    return Path(len(graph.nodes), types, path, weights.total(), summary)
