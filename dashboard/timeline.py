"""The timeline of a device: how busy it was, stretch by stretch, and its gaps; with zoom."""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from dashboard import behind, charts, colours, formatting, store
from dashboard.query import call, select
from dashboard.selection import Device

BINS = 240
MOST_ACTIVITIES = 1_000
MOST_GAPS = 300
LANE = "idle"
BRUSH = "stretch"
NAME = 160


@st.fragment
def show(run: str, device: Device) -> None:
    """Draws the stretch that the URL names, else all of it. Brushing zooms in."""
    (total,) = store.rows(
        select("start_ns, end_ns", "device_totals", {"run_id": run, **device.where()})
    ).itertuples()
    whole = int(total.end_ns - total.start_ns)
    since, until = _stretch(whole)
    st.subheader("Timeline", anchor=False)
    occupancy = call(
        "from_ns, to_ns, part, part_ns, percent",
        "device_occupancy",
        [run, device.rank, device.device, since, until, BINS],
        "from_ns, part",
    )
    where = {"run_id": run, **device.where(), "from_ns <": until, "to_ns >": since}
    columns = "lane, part, from_ns, to_ns, dur_ns, name, op, host_frame, before_kernel, after_kernel"
    gaps = select(
        columns,
        "activity_timeline",
        {**where, "lane": LANE},
        order_by="dur_ns DESC, from_ns",
        limit=MOST_GAPS,
    )
    activities = select(
        columns,
        "activity_timeline",
        {**where, "lane <>": LANE},
        order_by="dur_ns DESC, from_ns",
        limit=MOST_ACTIVITIES + 1,
    )
    drawn = store.rows(activities)
    single = len(drawn) <= MOST_ACTIVITIES
    moments = pd.concat([store.rows(gaps), drawn]) if single else store.rows(gaps)
    _zoom_out(run, device, since, until, whole)
    _chart(store.rows(occupancy), moments, since, until, key=f"timeline-{run}-{device.label}-{since}-{until}")
    with st.container(horizontal=True):
        behind.show(occupancy, "busy")
        behind.show(gaps, "gaps")
        behind.show(activities, "activities")
    st.caption(
        "Drag over the upper part to zoom in. "
        + (
            "Every activity of the stretch is drawn."
            if single
            else f"Single activities are drawn when at most {MOST_ACTIVITIES:,} are in the stretch."
        )
        + f" Of the gaps, the longest {MOST_GAPS}."
    )


def zoom(since: int, until: int) -> None:
    """Puts a stretch into the URL; the timeline draws it."""
    st.query_params["from"] = str(since)
    st.query_params["to"] = str(until)


def _stretch(whole: int) -> tuple[int, int]:
    """The URL's stretch where it is one of this device's time, else all."""
    try:
        since, until = int(st.query_params["from"]), int(st.query_params["to"])
    except (KeyError, ValueError):
        return 0, whole
    since, until = max(0, since), min(whole, until)
    return (since, until) if until - since >= BINS / 10 else (0, whole)


def _zoom_out(run: str, device: Device, since: int, until: int, whole: int) -> None:
    length = until - since
    zoomed = length < whole

    def out() -> None:
        wider = 3 * length
        if wider >= whole:
            whole_again()
        else:
            begin = min(max(0, since - length), whole - wider)
            zoom(begin, begin + wider)

    def whole_again() -> None:
        st.query_params.pop("from", None)
        st.query_params.pop("to", None)

    with st.container(horizontal=True, vertical_alignment="center"):
        key = f"{run}-{device.label}"
        st.markdown(
            f"{formatting.duration(length)} from {formatting.duration(since)} "
            f"to {formatting.duration(until)} of {formatting.duration(whole)}"
        )
        st.button("Zoom out", on_click=out, disabled=not zoomed, key=f"out-{key}", icon=":material/zoom_out:")
        st.button("All", on_click=whole_again, disabled=not zoomed, key=f"all-{key}", icon=":material/fit_width:")


def _chart(occupancy: pd.DataFrame, moments: pd.DataFrame, since: int, until: int, key: str) -> None:
    factor, unit = charts.duration_axis(until - since)
    factor = dict((u, f) for f, u in formatting.DURATIONS)[unit]
    time = alt.Scale(domain=[since / factor, until / factor], nice=False)
    title = f"time since the device's first activity ({unit})"
    parts = set(occupancy["part"]) | set(moments["part"])
    busy = _busy(occupancy, factor, time, parts)
    lanes = _lanes(moments, factor, time, title, since, until)
    chart = alt.vconcat(busy, lanes, spacing=6)

    def brushed() -> None:
        chosen: Any = st.session_state[key]["selection"].get(BRUSH, {})
        if interval := chosen.get("from"):
            begin, end = sorted(int(edge * factor) for edge in interval)
            if end - begin >= BINS / 10:
                zoom(begin, end)

    st.altair_chart(
        chart,
        key=key,
        on_select=brushed,
        selection_mode=BRUSH,
        alt="Timeline of the device",
    )


def _busy(occupancy: pd.DataFrame, factor: float, time: alt.Scale, parts: set[str]) -> Any:
    data = pd.DataFrame(
        {
            "from": occupancy["from_ns"] / factor,
            "to": occupancy["to_ns"] / factor,
            "percent": occupancy["percent"],
            "label": occupancy["part"].map(colours.label),
            "place": occupancy["part"].map(list(colours.PARTS).index),
            "time": occupancy["part_ns"].map(formatting.duration),
            "share": occupancy["percent"].map(formatting.percent),
        }
    )
    return (
        alt.Chart(data)
        .mark_bar(orient="vertical", strokeWidth=0.5)
        .encode(
            x=alt.X("from:Q", scale=time, title=None),
            x2="to:Q",
            y=alt.Y("percent:Q", title="share (%)", scale=alt.Scale(domain=[0, 100])),
            order="place:Q",
            color=charts.coloured(parts),
            stroke=alt.Stroke("label:N", scale=charts.colour_scale(colours.order(parts)), legend=None),
            tooltip=["label:N", "time:N", alt.Tooltip("share:N", title="of the stretch")],
        )
        .add_params(alt.selection_interval(name=BRUSH, encodings=["x"]))
        .properties(height=150, width="container")
    )


def _lanes(
    moments: pd.DataFrame, factor: float, time: alt.Scale, title: str, since: int, until: int
) -> Any:
    def short(column: str) -> list[str]:
        return [formatting.short_name(value, NAME) for value in moments[column]]

    data = pd.DataFrame(
        {
            "from": moments["from_ns"].clip(since, until) / factor,
            "to": moments["to_ns"].clip(since, until) / factor,
            "lane": moments["lane"],
            "label": moments["part"].map(colours.label),
            "time": moments["dur_ns"].map(formatting.duration),
            "at": moments["from_ns"].map(formatting.duration),
            "name": short("name"),
            "op": short("op"),
            "frame": short("host_frame"),
            "before": short("before_kernel"),
            "after": short("after_kernel"),
        }
    )
    lanes = [LANE, *sorted(set(data["lane"]) - {LANE})]
    return (
        alt.Chart(data)
        .mark_bar(height={"band": 0.8}, minBandSize=4)
        .encode(
            x=alt.X("from:Q", scale=time, title=title),
            x2="to:Q",
            y=alt.Y("lane:N", sort=lanes, title=None),
            color=alt.Color("label:N"),
            tooltip=[
                "label:N",
                "time:N",
                "at:N",
                "name:N",
                alt.Tooltip("op:N", title="op on the host"),
                alt.Tooltip("frame:N", title="Python frame"),
                alt.Tooltip("before:N", title="before"),
                alt.Tooltip("after:N", title="after"),
            ],
        )
        .properties(height=26 * max(1, len(lanes)), width="container")
    )
