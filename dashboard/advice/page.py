"""Page Advice: what could make a run faster, and by how much at most."""

from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.advice import cards
from dashboard.query import select
from dashboard.widgets import (
    advice_kinds,
    charts,
    colours,
    formatting,
    incomplete_runs,
    median_step,
    menu,
    metrics,
    tables,
)
from dashboard.widgets.view import View

EXPLAINED = (
    "Each is an upper bound; one that rests on the device's peak rate, which no real kernel has, "
    "comes last. Idle time counts in one of them only; the time of a kernel can count "
    "in two, so that they do not add up. All shares on this page are of the wall time of the "
    "median step. Page Bubbles shows idle time as a share of the device's span, from its first "
    "activity to its last."
)

WALL = "the wall time"


def page(view: View) -> None:
    """The page."""
    run, device = str(view.run), view.device
    if device is None:
        incomplete_runs.no_activity(run)
        return
    where = view.where()
    query = select("*", "advice", where, order_by=advice_kinds.ORDER)
    pieces = data.rows(query)
    _metrics(view.measured, pieces)
    median_step.warn(run)
    if pieces.empty:
        st.success(
            "Nothing stands out: what was looked at is below, with how little it could save.",
            icon=":material/check:",
        )
    else:
        menu.heading("What each can save at most", {"advice": query}, "advice")
        _bars(pieces, device.is_host, median_step.name(view.measured.steps_from))
        for piece in pieces.itertuples():
            cards.show(piece, run, device, device.is_host)
    _others(where, set(pieces["kind"]), device.is_host)
    _unknown_ends(view.measured)


def _metrics(summary: Any, pieces: pd.DataFrame) -> None:
    """What the median step takes, and the most that one piece of advice can save of it."""

    with st.container(horizontal=True):
        st.metric(
            median_step.name(summary.steps_from).capitalize(),
            formatting.duration(summary.wall_ns),
            f"of {formatting.counted(int(summary.steps), 'step')}" if summary.steps > 1 else None,
            delta_color="off",
            delta_arrow="off",
            help=f"Wall time: {median_step.described(summary)}.",
        )
        busy = "Device busy" if summary.measure == "device" else "Operators"
        metrics.with_share(
            busy, summary.busy_ns, metrics.share(summary.busy_ns, summary.wall_ns, WALL)
        )
        metrics.with_share(
            "Idle between",
            summary.bubble_ns,
            metrics.share(summary.bubble_ns, summary.wall_ns, WALL),
        )
        if not pieces.empty:
            first = pieces.iloc[0]
            metrics.with_share(
                f"At most: {advice_kinds.KINDS[first['kind']].short}",
                first["bound_ns"],
                metrics.share(first["bound_ns"], summary.wall_ns, WALL),
            )


def _bars(pieces: pd.DataFrame, on_host: bool, of: str) -> None:
    """How much each can save at most."""
    kinds = [advice_kinds.KINDS[kind] for kind in pieces["kind"]]
    factor, unit = charts.duration_axis(pieces["bound_ns"].max())
    chart_rows = pd.DataFrame(
        {
            "title": [advice_kinds.title(kind, on_host) for kind in pieces["kind"]],
            "value": pieces["bound_ns"] / factor,
            "bound": pieces["bound_ns"].map(formatting.duration),
            "share": pieces["percent"].map(formatting.percent),
        }
    )
    titles = list(chart_rows["title"])
    chart = (
        alt.Chart(chart_rows)
        .mark_bar(height={"band": 0.75})
        .encode(
            x=alt.X("value:Q", title=f"of {of}, at most ({unit})"),
            y=alt.Y("title:N", sort=titles, title=None, axis=alt.Axis(labelLimit=320)),
            color=alt.Color(
                "title:N",
                legend=None,
                scale=alt.Scale(domain=titles, range=[colours.of(kind.colour) for kind in kinds]),
            ),
            tooltip=charts.tooltips("title:N", "bound:N", ("share:N", f"of {of}")),
        )
        .properties(height=28 * len(chart_rows) + charts.AXIS_HEIGHT)
    )
    st.altair_chart(chart, alt=f"How much of {of} each advice can save at most")
    st.caption(EXPLAINED)


def _others(where: dict[str, Any], shown: set[str], on_host: bool) -> None:
    """What else was looked at, and what could not be judged."""
    query = select(
        "kind, bound_ns, percent, unknown_reason",
        "advice_checks",
        where,
        order_by="unknown_reason IS NOT NULL, bound_ns DESC, kind",
    )
    frame = data.rows(query)
    frame = frame[~frame["kind"].isin(shown)]
    if frame.empty:
        return
    menu.heading("Also looked at", {"checks": query}, "checks")
    frame = frame.assign(kind=[advice_kinds.title(kind, on_host) for kind in frame["kind"]])
    unknown = frame[~frame["unknown_reason"].map(formatting.missing)]
    minor = frame.drop(unknown.index)
    for why, kinds in unknown.groupby("unknown_reason", sort=False)["kind"]:
        st.caption(f"Not known, as {formatting.literal(str(why))}: {'; '.join(kinds)}.")
    if not minor.empty:
        st.caption("Minor findings, under 1% of the median step or under 50 µs:")
        tables.show(
            minor,
            "advice_checks",
            key="checks",
            hidden=["unknown_reason"],
            labels={"kind": "what", "bound_ns": "at most", "percent": "of the step"},
            widths={"kind": 330},
        )


def _unknown_ends(summary: Any) -> None:
    """Time at the ends of the steps, of which no cause is known."""
    ends = [
        f"**{formatting.duration(ns)}** of {median_step.name(summary.steps_from)} pass {place}"
        for ns, place in (
            (summary.lead_ns, "before its first activity"),
            (summary.tail_ns, "after its last"),
        )
        if summary.wall_ns and ns >= 0.01 * summary.wall_ns
    ]
    if ends:
        st.caption(
            " and ".join(ends)
            + ": bubbles lie between activities, so that this time has no cause and no advice here."
        )
