"""Edges of the host: each thread proceeds from one start or end of a span to the next."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ingest.conversion.critical_path.graph import NOBODY, Edges, Integers, Kind
from ingest.conversion.critical_path.nodes import Nodes


class Thread(NamedTuple):
    """A thread's nodes in order, and the innermost span (`owners`) in the time before each."""

    nodes: Integers
    owners: Integers
    is_autograd: bool


class Host(NamedTuple):
    """The threads, and for each span the innermost operator around it, which may be the span."""

    main: Thread
    others: list[Thread]
    ops: Integers


def read_threads(nodes: Nodes, main_lane: int | None) -> Host | None:
    """Return the threads of a step, or None if nothing of the host was recorded.

    The main thread is the one of `main_lane`. If that has no spans, it is the thread that launches
    most, preferably not one of autograd.
    """
    ops = np.full(nodes.span_count, NOBODY)
    threads = {
        lane: _thread(nodes, rows, ops) for lane, rows in nodes.lanes_of(nodes.spans).items()
    }
    if not threads:
        return None
    if main_lane not in threads:
        launching = np.isin(nodes.spans["event_id"], nodes.activities["launch_id"])
        launches = {
            lane: int(launching[thread.nodes[thread.nodes % 2 == 0] // 2].sum())
            for lane, thread in threads.items()
        }
        main_lane = max(
            threads,
            key=lambda lane: (
                not threads[lane].is_autograd,
                launches[lane],
                len(threads[lane].nodes),
                -nodes.times[threads[lane].nodes[0]],
            ),
        )
    main = threads.pop(main_lane)
    return Host(main, list(threads.values()), ops)


def add_threads(nodes: Nodes, host: Host, waited: npt.NDArray[np.bool_], edges: Edges) -> None:
    """Add the edges of all threads. Time in the spans of mask `waited` weighs nothing."""
    main_times = nodes.times[host.main.nodes]
    returns = _returns(nodes, host)
    weights, kinds = _own_time(nodes, host.main, waited)
    weights[returns >= 0] = 0
    edges.add(nodes.start, host.main.nodes[0], main_times[0] - nodes.start_ns, NOBODY, Kind.HOST)
    edges.add(host.main.nodes[:-1], host.main.nodes[1:], weights, host.main.owners[1:], kinds)
    back, later = returns[returns >= 0], host.main.nodes[1:][returns >= 0]
    edges.add(back, later, nodes.times[later] - nodes.times[back], NOBODY, Kind.HOST)
    for thread in host.others:
        weights, kinds = _own_time(nodes, thread, waited)
        times = nodes.times[thread.nodes]
        last = np.searchsorted(main_times, times, "left") - 1  # the main thread's last node before
        callers = np.where(last >= 0, host.main.nodes[last], nodes.start)
        # The main thread started the work that begins on an idle thread, if it did anything since
        # that thread became idle.
        before = np.append(nodes.start_ns - 1, times[:-1])
        begins = (thread.owners == NOBODY) & (nodes.times[callers] > before)
        begins &= nodes.times[callers] < times
        weights[begins[1:]] = 0
        edges.add(
            callers[begins],
            thread.nodes[begins],
            (times - nodes.times[callers])[begins],
            NOBODY,
            Kind.THREAD,
        )
        edges.add(thread.nodes[:-1], thread.nodes[1:], weights, thread.owners[1:], kinds)


def _own_time(
    nodes: Nodes, thread: Thread, waited: npt.NDArray[np.bool_]
) -> tuple[Integers, Integers]:
    """Return the weights, ns, and kinds of the edges between a thread's nodes."""
    owners = thread.owners[1:]
    is_owned = owners != NOBODY
    has_edge = is_owned & waited[owners]
    is_wait = is_owned & (nodes.spans["wait"][owners] > 0) & ~has_edge
    weights = np.where(has_edge, 0, np.diff(nodes.times[thread.nodes]))
    return weights, np.where(is_wait, Kind.UNEXPLAINED, Kind.HOST)


def _returns(nodes: Nodes, host: Host) -> Integers:
    """Return the autograd node that each node of the main thread waited for, or -1.

    The result leaves out the first node. The main thread can wait for the backward pass only
    outside operators.
    """
    found = np.full(len(host.main.nodes) - 1, -1)
    backward = [thread.nodes for thread in host.others if thread.is_autograd]
    if not backward:
        return found
    ended = np.concatenate(backward)
    ended = ended[np.argsort(nodes.times[ended], kind="stable")]
    times, main_times = nodes.times[ended], nodes.times[host.main.nodes]
    owners = host.main.owners[1:]
    is_free = (owners == NOBODY) | (nodes.spans["is_annotation"][owners] == 1)
    last = np.searchsorted(times, main_times[1:], "right") - 1
    is_return = is_free & (last >= 0) & (times[last] > main_times[:-1])
    return np.where(is_return, ended[last], found)


def _thread(nodes: Nodes, rows: Integers, ops: Integers) -> Thread:
    """Return the thread with the spans `rows`, and set their items of `ops`.

    The spans must be ordered by start, and longer ones first. If spans cross, the one that began
    last is the innermost.
    """
    spans = nodes.spans
    starts, ends = spans["start_ns"][rows], spans["end_ns"][rows]
    order = np.arange(len(rows))
    is_empty = starts == ends
    # At the same time, spans end, inner ones first, before others start. A span of length zero ends
    # directly after its start.
    columns = (
        np.concatenate([2 * order, np.where(is_empty, 2 * order + 1, -order)]),
        np.concatenate([np.ones_like(order), is_empty]),
        np.concatenate([starts, ends]),
    )
    thread_nodes = np.concatenate([2 * rows, 2 * rows + 1])[np.lexsort(columns)]
    owners = _owners(thread_nodes)
    is_end = thread_nodes & 1 == 1
    if np.any(owners[is_end] != thread_nodes[is_end] >> 1):
        owners = _owners_of_crossing(thread_nodes)
    around = np.full(nodes.span_count, NOBODY)
    around[thread_nodes[~is_end] >> 1] = owners[~is_end]
    op = rows
    while len(outside := np.flatnonzero((op != NOBODY) & (spans["is_op"][op] == 0))):
        op = op.copy()
        op[outside] = around[op[outside]]
    ops[rows] = op
    is_autograd = bool(spans["is_autograd"][rows].any())
    return Thread(thread_nodes, owners, is_autograd)


def _owners(thread_nodes: Integers) -> Integers:
    """Return the innermost span before each node of a thread, or -1, if no spans cross.

    It is the last span that began at the depth of the node. So the starts are ordered by depth, and
    then by place, and the last one before the node's own place is looked up.
    """
    step = np.where(thread_nodes & 1, -1, 1)
    depth, place = np.cumsum(step), np.arange(len(step))
    starts = np.flatnonzero(step == 1)
    begun = np.argsort(depth[starts], kind="stable")
    keys = depth[starts][begun] * len(step) + starts[begun]
    last = np.searchsorted(keys, (depth - step) * len(step) + place) - 1
    spans = thread_nodes[starts[begun[last]]] >> 1
    return np.where(depth > step, spans, NOBODY)


def _owners_of_crossing(thread_nodes: Integers) -> Integers:
    """Return what `_owners` does, also if spans cross: the open span that began last."""
    owners: list[int] = []
    opened: list[int] = []
    closed: set[int] = set()
    for node in thread_nodes.tolist():
        owners.append(opened[-1] if opened else NOBODY)
        span = node >> 1
        if node & 1:
            closed.add(span)
            while opened and opened[-1] in closed:
                closed.discard(opened.pop())
        else:
            opened.append(span)
    return np.array(owners, np.int64)
