"""The roofline chart: rate against intensity on logarithmic axes, below the device's roofs."""

import math
from collections.abc import Callable
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import charts, colours, formatting
from dashboard.widgets.view import View
from ingest.server import reports

KEY = "roofline-chart"
HEIGHT = 470
LARGEST = 1_200  # area of the largest point, square pixels
SMALLEST = 25
MAX_POINTS = 1_000
HELP = (
    "Each point is the work of a row of the table: the larger, the more time. The sloping roof is "
    "the memory bandwidth, and each flat roof the peak of a type. A point far below its roof could "
    "be faster. To the left of the edge memory is the limit, to the right the peak."
)
MEANINGS = {**reports.efficiency.BOUNDS, "unknown": "unknown"}


def show(
    view: View, frame: pd.DataFrame, limits: Any, at: str | None, pick: Callable[[str], None]
) -> None:
    """Draw the chart. A click on a point calls `pick` with its row's `at`."""
    st.subheader("Roofline", anchor=False, help=HELP)
    placed = frame[(frame["flops"] > 0) & (frame["bytes"] > 0) & (frame["tflop_per_s"] > 0)]
    if placed.empty:
        st.caption("No row has both operations and bytes, so none has a place in the chart.")
        return
    drawn = placed.nlargest(MAX_POINTS, "work_ns")
    points = points_of(drawn, at)
    used = [name for name in drawn["precision"].unique() if not formatting.missing(name)]
    roofs = roofs_of(view, limits, used, points)
    charts.legend(
        {
            MEANINGS[name]: colours.BOUNDS[name]
            for name in MEANINGS
            if (points["bound"] == name).any()
        }
    )

    def picked() -> None:
        chosen: Any = st.session_state[KEY]["selection"].get(charts.PICK, [])
        if chosen:
            pick(str(chosen[0]["at"]))

    st.altair_chart(
        layers(points, roofs).properties(height=HEIGHT),
        key=KEY,
        on_select=picked,
        selection_mode=charts.PICK,
        alt="Operations per second of each row against its operations per byte",
    )
    st.caption(_left_out(frame, drawn))


def points_of(drawn: pd.DataFrame, at: str | None) -> pd.DataFrame:
    """Return the points with their texts."""
    longest = drawn["work_ns"].max()
    return pd.DataFrame(
        {
            "at": drawn["at"],
            "x": drawn["intensity"],
            "y": drawn["tflop_per_s"] * 1e12,
            "size": [max(SMALLEST, LARGEST * work_ns / longest) for work_ns in drawn["work_ns"]],
            "edge": [2.5 if each == at else 0.5 for each in drawn["at"]],
            "bound": drawn["bound"].fillna("unknown"),
            "colour": [colours.BOUNDS[bound] for bound in drawn["bound"].fillna("unknown")],
            "name": [
                "outside of modules" if formatting.missing(name) else formatting.short_name(name)
                for name in drawn["name"]
            ],
            "shapes": [formatting.shapes(dims) for dims in drawn["input_dims"]],
            "type": drawn["dtype"],
            "calls": drawn["calls"].map(formatting.count),
            "time": drawn["work_ns"].map(formatting.duration),
            "rate": drawn["tflop_per_s"].map(formatting.operation_rate),
            "memory": drawn["tb_per_s"].map(formatting.bandwidth),
            "of_peak": drawn["peak_percent"].map(formatting.percent),
            "of_bandwidth": drawn["bandwidth_percent"].map(formatting.percent),
            "save": drawn["saved_ns"].map(formatting.duration),
        }
    )


def roofs_of(view: View, limits: Any, precisions: list[str], points: pd.DataFrame) -> pd.DataFrame:
    """Return the corners of each roof: where it begins, its edge, and where it ends.

    Without a bandwidth, a roof is flat. Measured peaks have roofs of their own if the datasheet's
    are used.
    """
    peaks = (
        data.rows(
            reports.kernels.peaks(
                {"run_id": view.run, "device_id": limits.device_id, "precision": precisions}
            )
        )
        if limits is not None and precisions
        else pd.DataFrame()
    )
    least, most = points["x"].min() / 2, points["x"].max() * 2
    corners = []
    for peak in peaks.itertuples():
        sources = [(peak.tflop_per_s, limits.tb_per_s, peak.tflop_per_s_from)]
        if peak.tflop_per_s_from != "calibration":
            sources.append((peak.measured_tflop_per_s, limits.measured_tb_per_s, "calibration"))
        for tflop_per_s, tb_per_s, source in sources:
            if formatting.missing(tflop_per_s):
                continue
            edge = None if formatting.missing(tb_per_s) else tflop_per_s / tb_per_s
            ends = (min(least, edge / 2), edge, max(most, edge * 2)) if edge else (least, most)
            label = f"{peak.precision}: {formatting.operation_rate(tflop_per_s)}"
            corners += [
                {
                    "roof": f"{peak.precision} {source}",
                    "label": label if x == ends[-1] else "",
                    "slope": formatting.bandwidth(tb_per_s) if edge and x == ends[0] else "",
                    "is_measured": source == "calibration" and len(sources) > 1,
                    "x": x,
                    "y": 1e12 * min(tflop_per_s, tb_per_s * x if edge else math.inf),
                }
                for x in ends
            ]
    return pd.DataFrame(corners, columns=["roof", "label", "slope", "is_measured", "x", "y"])


def axes(x: pd.Series, y: pd.Series, suffix: str = "") -> tuple[alt.X, alt.Y]:
    """Return logarithmic axes of columns `x` and `y`, with space around these values."""
    left, right = x.min() / 1.5, x.max() * 1.5
    tens = [
        10.0**power for power in range(math.ceil(math.log10(left)), math.ceil(math.log10(right)))
    ]
    return (
        alt.X(
            f"x{suffix}:Q",
            title="operations per byte",
            scale=alt.Scale(type="log", nice=False, domain=[left, right]),
            axis=alt.Axis(values=tens) if len(tens) > 1 else alt.Axis(tickCount=6),
        ),
        alt.Y(
            f"y{suffix}:Q",
            title="operations per second (FLOPS)",
            scale=alt.Scale(type="log", nice=False, domain=[y.min() / 2, y.max() * 3]),
            axis=alt.Axis(format="~s"),
        ),
    )


def layers(points: pd.DataFrame, roofs: pd.DataFrame) -> Any:
    """Return the chart of points below roofs."""
    ink = colours.quiet_ink()
    x, y = axes(pd.concat([points["x"], roofs["x"]]), pd.concat([points["y"], roofs["y"]]))
    lines = (
        alt.Chart(roofs)
        .mark_line(color=ink, strokeWidth=1.5)
        .encode(
            x=x,
            y=y,
            detail=alt.Detail("roof:N"),
            strokeDash=alt.StrokeDash(
                "is_measured:N",
                scale=alt.Scale(domain=[False, True], range=[[1, 0], [5, 4]]),
                legend=None,
            ),
        )
    )
    labels = (
        alt.Chart(roofs[roofs["label"] != ""])
        .mark_text(align="right", dy=-7, color=ink, fontSize=11)
        .encode(x=x, y=y, text=alt.Text("label:N"))
    )
    # Roofs of several types begin on the same slope.
    slopes = (
        alt.Chart(roofs[roofs["slope"] != ""].drop_duplicates("slope"))
        .mark_text(align="left", dx=6, dy=10, color=ink, fontSize=11)
        .encode(x=x, y=y, text=alt.Text("slope:N"))
    )
    dots = (
        alt.Chart(points)
        .mark_point(filled=True, opacity=0.75, stroke=colours.ink())
        .encode(
            x=x,
            y=y,
            color=alt.Color("colour:N", scale=None),
            size=alt.Size("size:Q", scale=None),
            strokeWidth=alt.StrokeWidth("edge:Q", scale=None),
            tooltip=charts.tooltips(
                "name:N",
                "shapes:N",
                "type:N",
                "calls:N",
                "time:N",
                "rate:N",
                "memory:N",
                ("of_peak:N", "% of peak"),
                ("of_bandwidth:N", "% of bandwidth"),
                ("bound:N", "bound by"),
                ("save:N", "could save"),
            ),
        )
        .add_params(alt.selection_point(charts.PICK, fields=["at"], toggle=False))
    )
    return alt.layer(lines, labels, slopes, dots)


def _left_out(frame: pd.DataFrame, drawn: pd.DataFrame) -> str:
    """Say how much of the time has no point, and why."""
    rest = frame[~frame["at"].isin(drawn["at"])]
    if rest.empty:
        return "The area of a point is its time."
    share = formatting.percent(100 * rest["work_ns"].sum() / frame["work_ns"].sum())
    return (
        f"The area of a point is its time. {share} of the time has no point: copies and other "
        "rows without operations or bytes."
    )
