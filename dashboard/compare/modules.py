"""The changes in the modules of a model, level by level."""

from typing import Any

import streamlit as st

from dashboard.compare import op_rows
from dashboard.compare.op_rows import Filter, Overview
from dashboard.compare.pair import Pair
from dashboard.drawing import colours, formatting, tables
from dashboard.widgets import menu

KEY = "module"


def selected(pair: Pair) -> str:
    """Return the module in the URL if it exists, else an empty text."""
    module = st.query_params.get(KEY, "")
    return module if module and op_rows.has_rows(pair, Filter(module=module)) else ""


def show(pair: Pair, every: Overview, wanted: Filter) -> None:
    """Show the children of the selected module, summed over the rows that match the filter.

    A click on a row selects a child. The path above leads back up.
    """
    if not every.has_modules:
        st.caption("By module: these profiles do not record the nn.Module of operators.")
        st.caption("To record it, use `with_stack=True` and `with_modules=True` in the profiler.")
        return
    query = op_rows.children_of(pair, wanted)
    below = op_rows.rows(pair, query)
    with _path(wanted.module):
        menu.show({"modules": query}, "modules")
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
        bars=["change_ns"],
        colours=[colours.NEUTRAL] * len(below),
        select="single-row",
        on_select=down,
    )
    if below["path"].notna().any():
        st.caption(
            "Click a module to see its children. Blocks that differ only in their number share a "
            "row."
        )


def _path(module: str) -> Any:
    """Show the path of the selected module as buttons. Return their container."""
    line = st.container(horizontal=True, gap="small", vertical_alignment="center")
    with line:
        _step("All modules", "", disabled=not module)
        for level in op_rows.levels(module):
            st.markdown("›")
            _step(level.rpartition("/")[2], level, disabled=level == module)
    return line


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
