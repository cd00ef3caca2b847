"""The modules of a model by what changed in them, level by level."""

import pandas as pd
import streamlit as st

from dashboard.compare import op_rows
from dashboard.compare.op_rows import Filter
from dashboard.compare.picker import Pair
from dashboard.query import Query, select
from dashboard.widgets import formatting, show_sql, tables

KEY = "module"


def asked(frame: pd.DataFrame) -> str:
    """The module that the address names, where there is such a one."""
    module = st.query_params.get(KEY, "")
    inside = op_rows.chosen(frame, Filter(module=module))
    return module if len(inside) and module else ""


def show(pair: Pair, frame: pd.DataFrame, wanted: Filter) -> None:
    """What is directly below the module looked at, of the rows that the rest of the filter leaves.

    A click on a row goes one level down, one on the path above goes up.
    """
    if not op_rows.modules(frame).any():
        st.caption("By module: these profiles do not tell which nn.Module an operator was in.")
        st.caption("`with_stack=True` and `with_modules=True` in the profiler record that.")
        return
    rows = op_rows.chosen(frame, Filter(wanted.search, wanted.statuses))
    below = op_rows.children(rows, wanted.module)
    _path(wanted.module)
    table_key = f"modules-{pair.key}-{wanted}"

    def down() -> None:
        ticked = st.session_state[table_key]["selection"]["rows"]
        path = below["path"].iloc[ticked[0]] if ticked else None
        if not formatting.missing(path):
            st.query_params[KEY] = str(path)

    tables.show(
        below.drop(columns="path"),
        "op_diff",
        key=table_key,
        labels={
            "child": "module",
            "base_ns": "from",
            "other_ns": "to",
            "change_ns": "change",
            "change_percent": "change, %",
        },
        widths={"child": 190, "rows": 50, "change_percent": 72},
        select="single-row",
        on_select=down,
    )
    with st.container(horizontal=True):
        show_sql.show(_query(pair, wanted.module), "modules")
    if below["path"].notna().any():
        st.caption("Tick a module to look into it. Its numbers are left out: blocks are added up.")


def _query(pair: Pair, module: str) -> Query:
    """The modules below that one, of all operators."""
    return select(
        "name, whole_base_ns, whole_other_ns, whole_other_ns - whole_base_ns AS change_ns, "
        "base_ns, other_ns",
        "module_diff",
        {"parent": module or None},
        arguments=pair.arguments,
        order_by="abs(whole_other_ns - whole_base_ns) DESC",
    )


def _path(module: str) -> None:
    """Where one is, as buttons that lead back up."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        _step("All modules", "", disabled=not module)
        for level in op_rows.levels(module):
            st.markdown("›")
            _step(level.rpartition("/")[2], level, disabled=level == module)


def _step(name: str, module: str, disabled: bool) -> None:
    def go() -> None:
        if module:
            st.query_params[KEY] = module
        else:
            st.query_params.pop(KEY, None)

    st.button(
        formatting.literal(name),
        on_click=go,
        disabled=disabled,
        key=f"module-{module}",
        type="tertiary",
    )
