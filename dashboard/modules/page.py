"""Page Modules: nn.Modules by their time and memory, with the operators and kernels in each."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import tables
from dashboard.modules import detail, flames
from dashboard.widgets import incomplete_runs, menu, url
from dashboard.widgets.view import View
from ingest.server import Query, select

MODULE = "module"  # URL parameter: the id of the ticked module
MAX_ROWS = 2_000
MEASURES = ["device_ns", "idle_ns", "device_bytes", "cpu_bytes"]
COLUMNS = f"name, total_ns, {', '.join(MEASURES)}, calls, self_ns, module, module_id"


def page(view: View) -> None:
    """Draw the page."""
    if view.device is None:
        incomplete_runs.no_activity(str(view.run))
        return
    left, right = st.container(key="beside-modules").columns([6, 5], gap="medium")
    with left:
        chosen = _tree(view)
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


def _tree(view: View) -> pd.Series | None:
    """Draw the modules as a tree, and return the ticked one."""
    heading = menu.heading_line("Modules")
    search = url.search("filter by name")
    query = _query(view, search)
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
    rows = tables.show(
        shown,
        "module_ranking",
        key=f"modules-{view.key}-{search}",
        hidden=["module", "module_id", "self_ns", *empty],
        labels={
            "name": "module",
            "total_ns": "host time",
            "idle_ns": "idle ended",
            "device_bytes": "memory kept",
            "cpu_bytes": "host memory kept",
        },
        bars=["total_ns" if "device_ns" in empty else "device_ns"],
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
    st.caption(note)
    chosen = frame.iloc[rows[0]] if rows else None
    url.remember(MODULE, None if chosen is None else str(chosen["module_id"]))
    return chosen


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
