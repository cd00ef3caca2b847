"""Page Modules: nn.Modules by their time and memory, with the operators and kernels in each."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import tables
from dashboard.modules import detail, flames
from dashboard.widgets import incomplete_runs, menu, url
from dashboard.widgets.view import View
from ingest.server import Query, reports, select

MODULE = "module"  # URL parameter: the id of the ticked module
MAX_ROWS = 2_000
MEASURES = ["device_ns", "idle_ns", "device_bytes", "cpu_bytes"]
COLUMNS = f"name, total_ns, {', '.join(MEASURES)}, calls, self_ns, module, module_id"
EFFICIENCY = reports.efficiency.MODULE_COLUMNS.split(", ")
KINDS = {
    "time": "host and device time, idle time and memory",
    "efficiency": "what the operators in the module reach of the limits of the device",
}
KIND = "columns"  # URL parameter


def page(view: View) -> None:
    """Draw the page."""
    if view.device is None:
        incomplete_runs.no_activity(str(view.run))
        return
    with view.bar:
        kind = st.segmented_control(
            "Columns",
            list(KINDS),
            default="time",
            required=True,
            key=KIND,
            bind="query-params",
            label_visibility="collapsed",
            help="  \n".join(f"**{name}**: {meaning}" for name, meaning in KINDS.items()),
        )
    widths = [3, 2] if kind == "efficiency" else [6, 5]
    left, right = st.container(key="beside-modules").columns(widths, gap="medium")
    with left:
        chosen = _tree(view, str(kind))
    with right:
        if chosen is not None:
            detail.show(view, chosen)
        flames.show(
            str(view.run),
            view.device.rank,
            view.steps.bounds,
            module_id=None if chosen is None else int(chosen["module_id"]),
            files=view.files,
        )


def _tree(view: View, kind: str) -> pd.Series | None:
    """Draw the modules as a tree, and return the ticked one."""
    heading = menu.heading_line("Modules")
    search = url.search("filter by name")
    query = _query(view, search)
    if kind == "efficiency":
        query = reports.efficiency.modules(
            str(view.run), COLUMNS, view.of_device(), view.steps.bounds, search=search
        )
    frame = data.rows(query)
    with heading:
        menu.show({"modules": query}, "modules", view.files)
    if frame.empty:
        st.info(
            "No module matches the search. Clear it to see all."
            if search
            else "The trace does not say which nn.Module ran when. Record it with "
            "`with_stack=True` and `with_modules=True`, as `capture` does. The flame graph shows "
            "what was recorded.",
            icon=":material/account_tree:",
        )
        return None
    ids = [str(each) for each in frame["module_id"]]
    module_id = st.query_params.get(MODULE)
    shown = frame.head(MAX_ROWS)
    empty = [name for name in MEASURES if not shown[name].fillna(0).any()]
    hidden = ["module", "module_id", "self_ns", *empty]
    if kind == "efficiency":
        time = "total_ns" if "device_ns" in empty else "device_ns"
        hidden = [name for name in shown if name not in ("name", time, *EFFICIENCY)]
    rows = tables.show(
        shown,
        ["module_efficiency_of_steps", "module_ranking"],
        key=f"modules-{view.key}-{search}-{kind}",
        hidden=hidden,
        labels={
            "name": "module",
            "total_ns": "host time",
            "idle_ns": "idle ended",
            "device_bytes": "memory kept",
            "cpu_bytes": "host memory kept",
        },
        bars=[] if kind == "efficiency" else ["total_ns" if "device_ns" in empty else "device_ns"],
        select="single-row",
        selected=[ids.index(module_id)] if module_id in ids[:MAX_ROWS] else [],
        ids=ids[:MAX_ROWS],
        depths=_depths(list(shown["module"])),
        is_unfolded=bool(search),
        rest_px=295,
    )
    note = "A module includes the modules inside it. Click a module to see its details."
    if len(frame) > MAX_ROWS:
        note += f" The first {MAX_ROWS:,} of {len(frame):,} modules. The menu has all of them."
    if kind == "efficiency":
        note += " " + _note(shown)
    st.caption(note)
    chosen = frame.iloc[rows[0]] if rows else None
    url.remember(MODULE, None if chosen is None else str(chosen["module_id"]))
    return chosen


def _note(shown: pd.DataFrame) -> str:
    """Return what the columns of efficiency count, and why they are empty if they are."""
    if shown["known_percent"].fillna(0).eq(0).all():
        return (
            f"No operator in these modules has known work. {reports.efficiency.HOW_TO_RECORD_WORK}"
        )
    if shown["saved_ns"].isna().all():
        return (
            "The peaks of the device are unknown, so shares of them are, too. Page Roofline says "
            "how to give them."
        )
    return (
        "Rates and shares are of the time of operators with known work. *MFU* is of the whole "
        "device time of the module."
    )


def _depths(modules: list[str]) -> list[int]:
    """Return how many of the earlier modules are around each. A search leaves some of them out."""
    around: list[str] = []
    depths = []
    for module in modules:
        while around and not module.startswith(f"{around[-1]}/"):
            around.pop()
        depths.append(len(around))
        around.append(module)
    return depths


def _query(view: View, search: str) -> Query:
    """Return the query for the modules that ran in the steps, in the order of the tree."""
    rank = view.device.rank if view.device else None
    return select(
        COLUMNS,
        "module_ranking_of_steps",
        {"rank": rank},
        arguments=(view.run, *view.steps.bounds),
        containing=("name", search),
        order_by="place",
    )
