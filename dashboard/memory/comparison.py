"""Memory of several runs: curves, peaks, and the difference between two."""

from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import charts, colours, formatting, tables
from dashboard.memory import device_memory
from dashboard.widgets import menu
from ingest.server import DeviceMemory, Query, reports, select

MAX_RUNS = len(colours.RUNS)
BINS = 240
HEIGHT = 320
DEVICE = "device_label(device_type, device) AS device"
PEAKS = (
    f"run_id, rank, {DEVICE}, origin, peak_bytes, "
    "peak_reserved_bytes, start_bytes, end_bytes, actions, allocations"
)
METRICS = ["peak", "peak reserved", "start", "end"]
LEVELS = ("frame", "module", "op", "category")
AXES = ("time", "order")


def show(picked: Sequence[str], devices: Sequence[DeviceMemory]) -> None:
    """Show the curves, the peaks and, for two runs, the difference."""
    first = device_memory.comparable(devices)
    shown = {run: first[run] for run in picked if run in first}
    without = [run for run in picked if run not in first]
    if without:
        names = ", ".join(formatting.literal(run) for run in without)
        st.caption(f"Runs without memory data: {names}.")
    if len(shown) > MAX_RUNS:
        st.warning(f"Only the first {MAX_RUNS} of {len(shown)} runs are compared.")
    shown = dict(list(shown.items())[:MAX_RUNS])
    _curves(shown)
    query = select(
        PEAKS, "memory_peak", {"run_id": list(shown)}, order_by="peak_bytes DESC, run_id"
    )
    st.subheader("Peaks", anchor=False)
    tables.show(
        data.rows(query),
        "memory_peak",
        key="memory-peaks",
        labels={
            "run_id": "run",
            "origin": "from",
            "peak_bytes": "peak",
            "peak_reserved_bytes": "reserved",
            "start_bytes": "start",
            "end_bytes": "end",
        },
    )
    menu.show({"peaks": query}, "memory-peaks")
    if len(shown) > 1:
        _difference(list(shown))


def _curves(shown: Mapping[str, DeviceMemory]) -> None:
    """Draw a line for each run, over its time or its actions."""
    with_curve = {run: device for run, device in shown.items() if device.has_history}
    st.subheader("Memory in use", anchor=False)
    if without := [formatting.literal(run) for run in shown if run not in with_curve]:
        st.caption(f"Runs without a history, and so without a curve: {', '.join(without)}.")
    if not with_curve:
        return
    axis = "order"
    if all(device.span_ns for device in with_curve.values()):
        axis = str(
            st.segmented_control(
                "Over",
                AXES,
                default="time",
                required=True,
                key="axis",
                bind="query-params",
                help="**time**: since each run's first action. **order**: percent of its actions.",
            )
        )
    queries = {run: _query(device, axis) for run, device in with_curve.items()}
    curves = [_line(with_curve[run], data.rows(query), axis) for run, query in queries.items()]
    runs = list(shown)
    charts.legend(
        {run: colour for run, colour in zip(runs, colours.RUNS, strict=False) if run in with_curve}
    )
    _draw(pd.concat(curves), runs, axis)
    menu.show({formatting.literal(run): query for run, query in queries.items()}, "curves")


def _query(device: DeviceMemory, axis: str) -> Query:
    whole = device.span_ns if axis == "time" else max(device.actions - 1, 1)
    return select(
        "position, ordinal, used_bytes",
        "memory_curve",
        arguments=[*device.arguments, axis, 0, whole, BINS],
        order_by="ordinal",
    )


def _line(device: DeviceMemory, curve: pd.DataFrame, axis: str) -> pd.DataFrame:
    """Return the highest moment of each bin, in the order of the curve.

    On the axis `order`, positions are percent of all actions.
    """
    most = max(device.actions - 1, 1)
    whole = device.span_ns if axis == "time" else most
    bins = (curve["position"] * BINS // max(whole, 1)).clip(upper=BINS - 1)
    kept = curve.loc[curve.groupby(bins)["used_bytes"].idxmax()]
    kept = pd.concat([curve.iloc[:1], kept, curve.iloc[-1:]]).drop_duplicates("ordinal")
    position = kept["position"] if axis == "time" else 100 * kept["position"] / most
    return pd.DataFrame({"run": device.run_id, "position": position, "bytes": kept["used_bytes"]})


def _draw(curves: pd.DataFrame, runs: Sequence[str], axis: str) -> None:
    size, unit = charts.size_axis(curves["bytes"].max())
    factor, time = charts.duration_axis(curves["position"].max()) if axis == "time" else (1.0, "")
    title = f"time since the run's first action ({time})" if time else "the run's actions (%)"
    chart_rows = pd.DataFrame(
        {
            "run": curves["run"],
            "position": curves["position"] / factor,
            "bytes": curves["bytes"] / size,
            "size": curves["bytes"].map(formatting.size),
        }
    )
    chart = (
        alt.Chart(chart_rows)
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X("position:Q", title=title, scale=alt.Scale(nice=False)),
            y=alt.Y("bytes:Q", title=f"memory in use ({unit})"),
            color=alt.Color(
                "run:N",
                legend=None,
                scale=alt.Scale(domain=list(runs), range=list(colours.RUNS[: len(runs)])),
            ),
            tooltip=charts.tooltips("run:N", "size:N"),
        )
        .properties(height=HEIGHT)
    )
    st.altair_chart(chart, alt="Memory in use of each run")


def _difference(runs: Sequence[str]) -> None:
    """Show two runs side by side, largest changes first."""
    st.subheader("What changed", anchor=False)
    base, other = runs[:2]
    with st.container(horizontal=True):
        if len(runs) > 2:
            base = str(st.selectbox("From", runs, 0, key="base", bind="query-params", width=420))
            rest = [run for run in runs if run != base]
            other = str(st.selectbox("To", rest, 0, key="other", bind="query-params", width=420))
    st.markdown(f"From **{formatting.literal(base)}** to **{formatting.literal(other)}**.")
    columns = (
        f"rank, {DEVICE}, name, base_bytes, other_bytes, change_bytes, percent AS change_percent"
    )
    curve = select(
        columns,
        "memory_diff",
        {"level": "curve"},
        arguments=[base, other],
        order_by="rank, device_type, device, name",
    )
    frame = data.rows(curve)
    devices = frame.drop_duplicates(["rank", "device"])
    alone = ["rank", "device"] if len(devices) == 1 else []
    _side_by_side(curve, "metrics", "metric", alone)
    owners = select(
        f"level, is_known, {columns}, base_allocations, other_allocations",
        "memory_diff",
        {"level <>": "curve"},
        arguments=[base, other],
        order_by="abs(change_bytes) DESC NULLS LAST, name",
    )
    found = data.rows(owners)
    known = set(found["level"][found["is_known"]])
    levels = [level for level in LEVELS if level in known]
    if not levels:
        st.caption("Neither run recorded what held the memory.")
        return
    level = st.segmented_control(
        "By", levels, default=levels[0], required=True, key="by", bind="query-params"
    )
    query = select(
        f"{columns}, base_allocations, other_allocations",
        "memory_diff",
        {"level": str(level)},
        arguments=[base, other],
        order_by="abs(change_bytes) DESC NULLS LAST, name",
    )
    _side_by_side(query, "owners", reports.memory.LEVELS[str(level)], alone)
    st.caption("The rows compare the peaks of the two runs. Click a heading to sort by it.")


def _side_by_side(query: Query, title: str, name: str, hidden: Sequence[str]) -> None:
    frame = data.rows(query)
    if title == "metrics":
        frame = frame.sort_values("name", key=lambda names: names.map(METRICS.index), kind="stable")
    tables.show(
        frame,
        "memory_peak",
        key=f"difference-{title}-{query.parameters}",
        hidden=hidden,
        labels={
            "name": name,
            "base_bytes": "from",
            "other_bytes": "to",
            "change_bytes": "change",
            "change_percent": "change, %",
            "base_allocations": "allocations from",
            "other_allocations": "to",
        },
    )
    menu.show({title: query}, f"memory-{title}")
