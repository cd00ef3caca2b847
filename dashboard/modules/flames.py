"""The flame graph of a run or a module, from Python frames down to kernels."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

import ingest
from dashboard import data
from dashboard.modules import detail
from dashboard.widgets import flame_graph, menu, url
from dashboard.widgets.flame_graph import Metric
from ingest.server import Scalar, select

THREAD = "thread"  # URL parameter
ALL_THREADS = "all threads"
HELP = (
    "Each box is a call. Its width is what the call took, including the calls inside it, which are "
    "below it. Click a box to zoom in."
)
METRICS = (
    Metric("self_device_ns", "device time"),
    Metric("self_ns", "host time"),
    Metric("self_idle_ns", "idle ended"),
    Metric("self_device_bytes", "memory"),
    Metric("self_cpu_bytes", "host memory"),
)


@st.fragment
def show(
    run: str, rank: int, bounds: Sequence[Scalar], *, module_id: int | None, files: str
) -> None:
    """Draw the flame graph of a run's steps, limited to a module if `module_id` is not None."""
    where: dict[str, Any] = {"rank": rank}
    if module_id is not None:
        where[detail.is_inside(run, module_id)] = True
    in_steps = f"in_steps(step, {', '.join(map(ingest.literal, bounds))})"
    sums = ", ".join(
        f"sum(greatest({metric.column}, 0)) FILTER ({in_steps}) AS {metric.column}"
        for metric in METRICS
    )
    threads = data.rows(
        select(
            f"pid, tid, {sums}",
            "call_stacks",
            where,
            arguments=[run],
            group_by="pid, tid",
            order_by="self_ns DESC, pid, tid",
        )
    )
    metrics = {each.label: each for each in METRICS if threads[each.column].sum() > 0}
    heading = menu.heading_line("Flame graph", help=HELP)
    if not metrics:
        st.caption("No call took any time in these steps.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        metric = flame_graph.pick(metrics)
        thread = _thread(threads, metric)
        search = url.search("find a name", flame_graph.SEARCH)
    if thread:
        where |= dict(zip(("pid", "tid"), thread, strict=True))
    calls = select(
        "id, any_value(caller_id) AS caller_id, min(name) AS name, "
        "any_value(category) AS category, "
        f"sum({metric.column}) FILTER ({in_steps}) AS value, NULL::BIGINT AS base_value",
        "call_stacks",
        where,
        arguments=[run],
        group_by="id",
    )
    flame_graph.show(calls, metric.column, search, heading, name="calls", files=files)


def _thread(threads: Any, metric: Metric) -> tuple[str, str] | None:
    """Return the pid and tid of the chosen thread, or None for all threads."""
    busy = threads[(threads[metric.column] > 0) & threads["pid"].notna()]
    if len(busy) < 2:
        return None
    choices = {
        f"thread {row.tid} of process {row.pid}": (str(row.pid), str(row.tid))
        for row in busy.itertuples()
    }
    options = [ALL_THREADS, *choices]
    if st.session_state.get(THREAD) not in options:
        st.session_state.pop(THREAD, None)
    chosen = st.selectbox(
        "Thread",
        options,
        key=THREAD,
        bind="query-params",
        width=260,
        label_visibility="collapsed",
    )
    return choices.get(str(chosen))
