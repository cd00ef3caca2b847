"""Which steps of a run a page is about: the median step, all, or one; in the URL."""

from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.query import Query, Scalar, select
from dashboard.widgets import charts, colours, formatting
from dashboard.widgets.run_picker import Device

KEY = "step"
MEDIAN, ALL = "median step", "all steps"
PICK = "step"
MOST_BARS = 200
HEIGHT = 150


@dataclass(frozen=True)
class Steps:
    """The steps from one to another, both included; without a bound, the range is open."""

    first: int | None
    last: int | None
    label: str

    @property
    def bounds(self) -> tuple[Scalar, Scalar]:
        """As the macros over steps take them."""
        return self.first, self.last


WHOLE = Steps(None, None, "whole recording")


def pick(device: Device, metrics: Any) -> Steps:
    """The steps that the URL names, at first the median one. `metrics`: a row of `run_metrics`."""
    if formatting.missing(metrics.step):
        return WHOLE
    names = list(map(str, _numbers(metrics.run_id, device)))
    if st.query_params.get(KEY) not in (None, MEDIAN, ALL, *names):
        del st.query_params[KEY]
    choice = st.selectbox("Step", [MEDIAN, ALL, *names], key=KEY, bind="query-params", width=170)
    if choice == ALL:
        return Steps(None, None, f"all {len(names)} steps")
    number = int(metrics.step) if choice == MEDIAN else int(choice)
    said = f"step {number}" + (", the median" if choice == MEDIAN else "")
    return Steps(number, number, said)


def _numbers(run: str, device: Device) -> list[int]:
    """The numbers of the steps, in order."""
    where = {"run_id": run, **device.where(), "step >=": 0}
    found = data.rows(select("DISTINCT step", "step_metrics", where, order_by="step"))
    return [int(number) for number in found["step"]]


def bars(run: str, device: Device) -> Query | None:
    """The time of each step as a bar of its parts; a click picks the step. None without steps."""
    numbers = _numbers(run, device)
    if not numbers:
        return None
    last = numbers[:MOST_BARS][-1]
    query = select(
        "step, part, ns",
        "step_parts",
        {"run_id": run, **device.where(), "ns <>": 0, "step <=": last},
        order_by="step, ordinal",
    )
    frame = data.rows(query)
    wall_ns = frame.groupby("step")["ns"].sum()
    factor, unit = charts.duration_axis(wall_ns.max())
    parts = set(frame["part"])
    rows = pd.DataFrame(
        {
            "step": frame["step"].astype(int),
            "label": frame["part"].map(colours.label),
            "place": frame["part"].map(colours.place),
            "value": frame["ns"] / factor,
            "time": frame["ns"].map(formatting.duration),
            "whole": frame["step"].map(wall_ns).map(formatting.duration),
        }
    )

    def picked() -> None:
        points = st.session_state[f"steps-{run}"]["selection"][PICK]
        st.session_state[KEY] = str(points[0]["step"]) if points else MEDIAN

    chart = (
        alt.Chart(rows)
        .mark_bar(cursor="pointer")
        .encode(
            x=alt.X("step:O", title="step", axis=alt.Axis(labelAngle=0, labelOverlap=True)),
            y=alt.Y("value:Q", title=unit, axis=alt.Axis(tickCount=4)),
            order=alt.Order("place:Q"),
            color=charts.coloured(parts),
            tooltip=charts.tooltips("step:O", "label:N", "time:N", ("whole:N", "of the step's")),
        )
        .add_params(alt.selection_point(name=PICK, fields=["step"], empty=False))
        .properties(height=HEIGHT)
    )
    charts.legend_of(parts)
    st.altair_chart(
        chart, key=f"steps-{run}", on_select=picked, selection_mode=PICK, alt="Time of each step"
    )
    if len(numbers) > MOST_BARS:
        st.caption(f"The first {MOST_BARS:,} of {len(numbers):,} steps.")
    return query
