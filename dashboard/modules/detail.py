"""The details of the ticked module: its times, operators and kernels."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import formatting, tables
from dashboard.widgets import menu
from dashboard.widgets.view import View
from ingest.server import Query, Value, select

MAX_ROWS = 500
METRICS = {
    "total_ns": ("Host time", formatting.duration, "Time in the module on the host."),
    "self_ns": ("Self time", formatting.duration, "Host time without the modules inside it."),
    "device_ns": (
        "Device time",
        formatting.duration,
        "Device time of what the module launched.",
    ),
    "idle_ns": ("Idle ended", formatting.duration, "Idle time that the module's kernels ended."),
    "calls": ("Calls", formatting.count, "Calls of the module in these steps."),
}


def show(view: View, module: pd.Series) -> None:
    """Show the metrics of the module, and the operators and kernels in it."""
    st.subheader(formatting.literal(str(module["name"])), anchor=False)
    if "/" in str(module["module"]):
        st.caption("In " + formatting.literal(str(module["module"]).rpartition("/")[0]))
    with st.container(horizontal=True):
        for column, (label, format_value, help) in METRICS.items():
            if not formatting.missing(module[column]):
                st.metric(label, format_value(module[column]), help=help)
    operators, kernels = st.tabs(["Operators", "Kernels"])
    with operators:
        _table(operators_query(view, int(module["module_id"])), "operators", view.files)
    with kernels:
        _table(kernels_query(view, int(module["module_id"])), "kernels", view.files)


def operators_query(view: View, module_id: int) -> Query:
    """Return the query for operators by name. Self times make sure that no time counts twice."""
    return select(
        "name, sum(self_ns)::BIGINT AS self_ns, sum(self_device_ns)::BIGINT AS device_ns, "
        "sum(calls)::BIGINT AS calls",
        "call_tree",
        {**_where(view, module_id), "category": "cpu_op"},
        group_by="name",
        order_by="device_ns DESC NULLS LAST, self_ns DESC, name",
        limit=MAX_ROWS,
    )


def kernels_query(view: View, module_id: int) -> Query:
    """Return the query for device activities by name."""
    return select(
        "name, 100.0 * sum(device_ns) / nullif(sum(sum(device_ns)) OVER (), 0) AS percent, "
        "sum(device_ns)::BIGINT AS device_ns, sum(activities)::BIGINT AS activities, "
        "sum(idle_ns)::BIGINT AS idle_ns",
        "launched_kernels",
        _where(view, module_id),
        group_by="name",
        order_by="device_ns DESC, name",
        limit=MAX_ROWS,
    )


def is_inside(run: str, module_id: int) -> str:
    """Return the SQL condition that selects rows of the module and of the modules inside it."""
    modules = select(
        "module_id", "module_tree", {"run_id": run, f"list_contains(around, {module_id})": True}
    )
    return f"module_id IN ({modules.inlined()})"


def _where(view: View, module_id: int) -> dict[str, Value]:
    return {
        "run_id": view.run,
        "rank": view.device.rank if view.device else None,
        is_inside(str(view.run), module_id): True,
        **view.steps.where(),
    }


def _table(query: Query, name: str, files: str) -> None:
    frame = data.rows(query)
    if frame.empty:
        st.caption(f"No {name} were recorded.")
        return
    tables.show(
        frame,
        "module_ranking",
        key=f"module-{name}",
        labels={"idle_ns": "idle ended"},
        bars=["percent"],
    )
    menu.show({name: query}, f"module-{name}", files)
