"""How late ranks come to collectives in each step."""

from typing import Any, NamedTuple

import altair as alt
import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import charts, colours, formatting
from dashboard.ranks import answer
from dashboard.ranks.answer import Answer
from dashboard.widgets import menu, step_picker
from dashboard.widgets.view import View
from ingest.server import reports

KEY = "rank-lateness"
HEIGHT = 300
MAX_POINTS = 400  # of a line; more steps are drawn in ranges
HELP = (
    "How much later than the first rank a rank comes to the collectives of a step, on average: the "
    "latest rank, and the median of all ranks."
)


class Line(NamedTuple):
    """A line of the chart: its label, its colour, and its width in pixels."""

    label: str
    colour: str
    width: float


def show(view: View, found: Answer) -> None:
    """Draw the largest and the median lateness of each step. A click picks a step."""
    assert view.device
    numbers = step_picker.numbers_of(str(view.run), view.device)
    width = 1 + (max(numbers) - min(numbers)) // MAX_POINTS if numbers else 1
    query = reports.rank_views.lateness_of_steps({"run_id": view.run}, found.straggler, width)
    menu.heading(
        "Lateness over steps", {"lateness": query}, "rank-lateness", HELP, files=str(view.run)
    )
    frame = data.rows(query)
    if not numbers:
        st.caption("No steps were found.")
        return
    if frame.empty:
        st.caption("Lateness is unknown: no collective in a step is matched.")
        return
    lines = {
        "largest_ns": Line("latest rank", colours.RUNS[5], 5),
        "median_ns": Line("median rank", colours.NEUTRAL, 1.5),
        "straggler_ns": Line(f"rank {found.straggler}, the straggler", colours.ALARM, 1.5),
    }
    lines = {name: line for name, line in lines.items() if frame[name].notna().any()}
    charts.legend({line.label: line.colour for line in lines.values()})

    def picked() -> None:
        chosen: Any = st.session_state[KEY]["selection"].get(charts.PICK, [])
        if chosen:
            first = int(chosen[0]["step"])
            step_picker.choose(str(first) if width == 1 else f"{first}-{first + width - 1}")

    st.altair_chart(
        _chart(frame, lines, view),
        key=KEY,
        on_select=picked,
        selection_mode=charts.PICK,
        alt="The lateness of ranks in each step",
    )
    notes = [
        "Click a point to pick its step." if width == 1 else "Click a point to pick its steps."
    ]
    if width > 1:
        notes.insert(0, f"A point is {width:,} steps.")
    if correction := answer.correction(found.clocks):
        notes.append(correction)
    st.caption(" ".join(notes))


def _chart(frame: pd.DataFrame, lines: dict[str, Line], view: View) -> Any:
    factor, unit = charts.duration_axis(frame["largest_ns"].max())
    points = pd.concat(
        pd.DataFrame(
            {
                "step": frame["step"],
                "value": frame[name].astype(float) / factor,
                "colour": line.colour,
                "line": line.label,
                "width": line.width,
                "lateness": frame[name].map(formatting.duration),
                "latest": [f"rank {rank}" for rank in frame["latest_rank"]],
                "is_picked": [not view.steps.is_whole and view.steps.has(s) for s in frame["step"]],
            }
        )
        for name, line in lines.items()
    ).dropna(subset=["value"])
    drawn = alt.Chart(points).encode(
        x=alt.X(
            "step:Q",
            title="step",
            scale=alt.Scale(zero=False, nice=False, padding=8),
            axis=alt.Axis(format=",d", tickMinStep=1),
        ),
        y=alt.Y("value:Q", title=f"later than the first rank ({unit})"),
        color=alt.Color("colour:N", scale=None),
        detail=alt.Detail("line:N"),
    )
    dots = (
        drawn.mark_point(filled=True, opacity=1)
        .encode(
            size=alt.condition("datum.is_picked", alt.value(110), alt.value(28)),
            tooltip=charts.tooltips("step:Q", "line:N", "lateness:N", ("latest:N", "latest rank")),
        )
        .add_params(alt.selection_point(charts.PICK, fields=["step"], nearest=True, toggle=False))
    )
    paths = drawn.mark_line().encode(strokeWidth=alt.StrokeWidth("width:Q", scale=None))
    return alt.layer(paths, dots).properties(height=HEIGHT)
