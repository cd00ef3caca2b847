"""The parts of steps by the rules of TensorBoard's retired profiler plugin, and outlier steps."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import formatting, tables
from dashboard.widgets import menu
from dashboard.widgets.view import View
from ingest.server import select

PARTS = ("kernel", "memcpy", "memset", "communication", "runtime", "data_loader", "cpu", "other")
RULES = (
    "Time counts in the first of these parts that ran anywhere in the process, in this order: "
    "kernel, memcpy, memset, communication, runtime, data loader, cpu. The rest is `other`. The "
    "causes of idle time above are more detailed."
)


@st.fragment
def show(view: View) -> None:
    """Show a bar for each part, and the outlier steps, once the user opens the section."""
    opened = st.expander(
        "Step parts as in TensorBoard", on_change="rerun", key="tensorboard", bind="query-params"
    )
    if not opened.open or view.device is None:
        return
    with opened:
        where = {"run_id": view.run, "rank": view.device.rank}
        sums = ", ".join(f"sum({part}_ns)::BIGINT AS {part}" for part in PARTS)
        query = select(sums, "tensorboard_steps", {**where, **view.steps.where()})
        (row,) = data.rows(query).to_dict("records")
        parts = pd.DataFrame(
            [
                (part.replace("_", " "), ns)
                for part, ns in row.items()
                if not formatting.missing(ns) and ns > 0
            ],
            columns=["part", "part_ns"],
        )
        if parts.empty:
            st.caption("By TensorBoard's rules, these steps have no parts.")
            return
        parts["percent"] = 100 * parts["part_ns"] / parts["part_ns"].sum()
        tables.show(
            parts,
            "tensorboard_steps",
            key="tensorboard-parts",
            bars=["part_ns"],
            labels={"part_ns": "time"},
        )
        outliers = select("*", "tensorboard_outliers", where, order_by="step")
        for each in data.rows(outliers).itertuples():
            what = "The recording" if formatting.missing(each.step) else f"Step {each.step:.0f}"
            st.markdown(
                f"**{what}** differs by {formatting.change(each.difference_ns)} from the "
                f"median, mostly {each.part.replace('_', ' ')}: "
                f"{formatting.change(each.part_difference_ns)}."
            )
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(RULES, width="stretch")
            menu.show({"steps": query, "outliers": outliers}, "tensorboard", view.files)
