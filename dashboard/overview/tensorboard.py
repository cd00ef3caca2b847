"""The steps as TensorBoard's retired plugin divided them, and those that stand out."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import formatting, tables
from dashboard.query import select
from dashboard.widgets import menu
from dashboard.widgets.view import View

PARTS = ("kernel", "memcpy", "memset", "communication", "runtime", "data_loader", "cpu", "other")
RULES = (
    "At each moment the first of these, in this order, that ran anywhere in the process counts; "
    "`other` is the rest. The causes of idle time above say more."
)


@st.fragment
def show(view: View) -> None:
    """A bar for each part, and the steps that stand out; drawn when the user opens it."""
    opened = st.expander(
        "As TensorBoard divided steps", on_change="rerun", key="tensorboard", bind="query-params"
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
            st.caption("By TensorBoard's rules, these steps hold nothing.")
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
