"""Two runs on page Roofline: a line leads from each point of the first run to the second."""

from collections.abc import Sequence

import altair as alt
import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import charts, colours, formatting, tables
from dashboard.roofline import chart
from dashboard.widgets import compare_link, menu, run_picker
from ingest.server import Query, reports, select

HEIGHT = 470
MAX_ROWS = 2_000
COLUMNS = (
    "run_id, name, input_dims, dtype, calls, work_ns, flops, bytes, intensity, tflop_per_s, "
    "peak_percent, bandwidth_percent, bound, warning"
)
KEYS = ["name", "input_dims", "dtype"]
HELP = (
    "Each line leads from the first run to the second, which has the point. Work is matched by "
    "name, and at level op also by shapes and type. Upwards is faster; to the right, fewer bytes "
    "for the same operations."
)


def page(runs: Sequence[str], level: str) -> None:
    """Draw the work of two runs, and a table of both."""
    if len(runs) > 2:
        st.warning(f"Only the first 2 of {len(runs)} runs are shown.")
    second, first = _newest_first(list(runs)[:2])
    compare_link.show_by_age([first, second], "What changed between them, and why")
    queries = {run: _query(run, level) for run in (first, second)}
    sides = {run: data.rows(query) for run, query in queries.items()}
    empty = [formatting.literal(run) for run, frame in sides.items() if frame.empty]
    if empty:
        st.info(
            f"No operator has known work in {' and '.join(empty)}. "
            f"{reports.efficiency.HOW_TO_RECORD_WORK}",
            icon=":material/straighten:",
        )
        return
    keys = KEYS if level == "op" else KEYS[:1]
    both = sides[first].merge(sides[second], on=keys, suffixes=("_first", "_second"), how="outer")
    if level != "op":  # their operators can have other types and shapes in the other run
        both = both.assign(input_dims=None, dtype=both["dtype_second"])
    left, right = st.container(key="beside-roofline").columns([4, 5], gap="medium")
    with left:
        _chart(both, first, second)
    with right:
        menu.heading("Side by side", queries, f"roofline-{level}-of-2-runs")
        _table(both, first, second)


def _newest_first(runs: Sequence[str]) -> list[str]:
    query = select("run_id", "run_overview", {"run_id": runs}, order_by=data.LATEST_FIRST)
    return list(map(str, data.rows(query)["run_id"]))


def _query(run: str, level: str) -> Query:
    """Return the query for the work of the median step on the default device of a run."""
    shown = next(iter(run_picker.metrics_of(run).values()), None)
    step = None if shown is None or formatting.missing(shown.step) else int(shown.step)
    return select(
        COLUMNS,
        "efficiency_of_steps",
        {"device_id": shown.device_id if shown else "", "level": level},
        arguments=(run, step, step),
        order_by="work_ns DESC, name, input_dims",
    )


def _chart(both: pd.DataFrame, first: str, second: str) -> None:
    st.subheader("From one run to the other", anchor=False, help=HELP)
    placed = both[(both["flops_first"] > 0) & (both["flops_second"] > 0)].dropna(
        subset=["intensity_first", "intensity_second", "tflop_per_s_first", "tflop_per_s_second"]
    )
    if placed.empty:
        st.caption("No row of one run has an equal one in the other.")
        return
    longest = placed[["work_ns_first", "work_ns_second"]].max().max()
    points = pd.DataFrame(
        {
            "x": placed["intensity_first"],
            "y": placed["tflop_per_s_first"] * 1e12,
            "x2": placed["intensity_second"],
            "y2": placed["tflop_per_s_second"] * 1e12,
            "size": [max(25.0, 900 * ns / longest) for ns in placed["work_ns_second"]],
            "name": [
                "outside of modules" if formatting.missing(name) else formatting.short_name(name)
                for name in placed["name"]
            ],
            "shapes": [formatting.shapes(dims) for dims in placed["input_dims"]],
            "before": placed["tflop_per_s_first"].map(formatting.operation_rate),
            "after": placed["tflop_per_s_second"].map(formatting.operation_rate),
            "time_before": placed["work_ns_first"].map(formatting.duration),
            "time_after": placed["work_ns_second"].map(formatting.duration),
        }
    )
    charts.legend({first: colours.NEUTRAL, second: colours.RUNS[0]})
    around = pd.concat([points["x"], points["x2"]]), pd.concat([points["y"], points["y2"]])
    x, y = chart.axes(*around)
    x2, y2 = chart.axes(*around, suffix="2")
    tooltip = charts.tooltips(
        "name:N",
        "shapes:N",
        "before:N",
        "after:N",
        ("time_before:N", "time before"),
        ("time_after:N", "time after"),
    )
    drawn = alt.Chart(points)
    lines = drawn.mark_rule(color=colours.NEUTRAL, strokeWidth=1.5).encode(
        x=x, y=y, x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q")
    )
    ends = drawn.mark_point(filled=True, opacity=0.8, color=colours.RUNS[0]).encode(
        x=x2,
        y=y2,
        size=alt.Size("size:Q", scale=None),
        tooltip=tooltip,
    )
    st.altair_chart(
        alt.layer(lines, ends).properties(height=HEIGHT),
        alt="Operations per second against operations per byte, in two runs",
    )
    notes = ["The area of a point is its time in the second run."]
    if left_out := len(both) - len(placed):
        notes.append(
            f"{formatting.counted(left_out, 'row')} without a point in both runs: the table has "
            "them. Compiled code has other operators and kernels: compare it by *kind*."
        )
    st.caption(" ".join(notes))


def _table(both: pd.DataFrame, first: str, second: str) -> None:
    change = both["work_ns_second"].fillna(0) - both["work_ns_first"].fillna(0)
    rows = both.assign(change_ns=change).sort_values("change_ns", key=abs, ascending=False)
    shown = rows.head(MAX_ROWS)
    roofs = {
        f"{side}_percent": shown[[f"peak_percent_{side}", f"bandwidth_percent_{side}"]].max(axis=1)
        for side in ("first", "second")
    }
    tables.show(
        pd.DataFrame(
            {
                "name": shown["name"],
                "input_dims": [formatting.shapes(dims) or None for dims in shown["input_dims"]],
                "dtype": shown["dtype"],
                "first_ns": shown["work_ns_first"],
                "second_ns": shown["work_ns_second"],
                "change_ns": shown["change_ns"],
                **roofs,
            }
        ),
        "efficiency_of_steps",
        key="roofline-pair",
        labels={
            "input_dims": "shapes",
            "dtype": "type",
            "first_ns": "time, first",
            "second_ns": "time, second",
            "change_ns": "change",
            "first_percent": "% of roof, first",
            "second_percent": "% of roof, second",
        },
    )
    st.caption(
        f"First: {formatting.literal(first)}. Second: {formatting.literal(second)}. Median steps. "
        "The roof is the peak or the memory bandwidth, whichever is nearer."
    )
    if above := rows["warning_first"].count() + rows["warning_second"].count():
        st.caption(
            f"{formatting.counted(above, 'figure')} above 100%: {reports.efficiency.ABOVE_PEAK}."
        )
