"""The modules of a model by what changed in them, level by level."""

import streamlit as st

from dashboard.compare import op_rows
from dashboard.compare.op_rows import Filter, Overview
from dashboard.compare.pair import Pair
from dashboard.widgets import formatting, menu, tables

KEY = "module"
CHANGED = "#66707C"


def asked(pair: Pair) -> str:
    """The module that the address names, where there is such a one."""
    module = st.query_params.get(KEY, "")
    return module if module and op_rows.has_rows(pair, Filter(module=module)) else ""


def show(pair: Pair, every: Overview, wanted: Filter) -> None:
    """What is directly below the module looked at, of the rows that the filter leaves.

    A click on a row goes one level down, one on the path above goes up.
    """
    if not every.has_modules:
        st.caption("By module: these profiles do not tell which nn.Module an operator was in.")
        st.caption("`with_stack=True` and `with_modules=True` in the profiler record that.")
        return
    query = op_rows.children_of(pair, wanted)
    below = op_rows.rows(pair, query)
    _path(wanted.module)
    table_key = f"modules-{pair.key}-{wanted}"

    def down(ticked: list[int]) -> None:
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
        widths={"child": 250, "change_ns": 220, "change_percent": 78, "rows": 50},
        bars=["change_ns"],
        colours=[CHANGED] * len(below),
        select="single-row",
        on_select=down,
    )
    menu.show({"modules": query}, "modules")
    if below["path"].notna().any():
        st.caption("Tick a module to look into it. Its numbers are left out: blocks are added up.")


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
