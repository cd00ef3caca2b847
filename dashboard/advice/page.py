"""Page Advice: what could make a run faster, and by how much at most."""

from typing import Any

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.advice import cards
from dashboard.drawing import colours, formatting, tables
from dashboard.widgets import (
    advice_kinds,
    critical_path,
    incomplete_runs,
    median_step,
    menu,
    metrics,
)
from dashboard.widgets.view import View

EXPLAINED = (
    "Each value is an upper bound. They are in the order of their gains on the critical path, or "
    "of the bounds if they have no gain. Bounds that assume the device's peak rate come last, "
    "because no real kernel reaches it. Idle time counts in one piece of advice only. Kernel time "
    "can count in two, so the values do not add up. All shares on this page are of the wall time "
    "of the steps shown."
)


def page(view: View) -> None:
    """Draw the page."""
    if view.device is None:
        incomplete_runs.no_activity(str(view.run))
        return
    query = advice_kinds.pieces(view)
    pieces = data.rows(query)
    measured = metrics.of_steps(view)
    _metrics(view, measured, pieces)
    if measured.is_median:
        median_step.warn(str(view.run))
    critical_path.summary(view)
    if pieces.empty:
        st.success(
            "There is no advice for these steps. The checks are below, with what they could save.",
            icon=":material/check:",
        )
    else:
        menu.heading("Time that each can save at most", {"advice": query}, "advice")
        _ranking(pieces, view.is_host)
        for piece in pieces.itertuples():
            cards.show(piece, view)
    _others(view, is_open=pieces.empty)


def _metrics(view: View, measured: Any, pieces: pd.DataFrame) -> None:
    """Show the times of the steps, and the most that one piece of advice can save."""
    with st.container(horizontal=True):
        metrics.wall(view, measured)
        metrics.busy_and_idle(measured, view.is_host)
        if not pieces.empty:
            first = pieces.iloc[0]
            metrics.with_share(
                f"At most: {advice_kinds.kinds()[first['kind']].short_title}",
                first["bound_ns"],
                metrics.share(first["bound_ns"], measured.wall_ns),
                "The most time that the first piece of advice can save.",
            )


def _ranking(pieces: pd.DataFrame, is_host: bool) -> None:
    """Show how much each piece of advice can save at most."""
    by_name = advice_kinds.kinds()
    kinds = [by_name[kind] for kind in pieces["kind"]]
    titles = [advice_kinds.title(kind, is_host) for kind in kinds]
    tables.show(
        pieces[["kind", "bound_ns", "percent", "gain_ns"]].assign(kind=titles),
        "advice_of_steps",
        key="advice",
        bars=["bound_ns"],
        colours=[colours.of(kind.colour) for kind in kinds],
        labels={"kind": "what", "bound_ns": "at most", "percent": "share", "gain_ns": "gain"},
    )
    st.caption(EXPLAINED)


def _others(view: View, *, is_open: bool) -> None:
    """Show the other checks, including those without a result, once the user opens the section."""
    opened = st.expander(
        "Other checks",
        is_open,
        key="advice-others",
        on_change="rerun",
        icon=":material/search:",
    )
    if opened.open:
        with opened:
            _checks(view)


def _checks(view: View) -> None:
    query = advice_kinds.others(view)
    frame = data.rows(query)
    kinds = advice_kinds.kinds()
    titles = [advice_kinds.title(kinds[kind], view.is_host) for kind in frame["kind"]]
    frame = frame.assign(kind=titles)
    unknown = frame[~frame["unknown_reason"].map(formatting.missing)]
    minor = frame.drop(unknown.index)
    for why, checks in unknown.groupby("unknown_reason", sort=False)["kind"]:
        st.caption(f"Unknown, because {formatting.literal(str(why))}: {'; '.join(checks)}.")
    if not minor.empty:
        st.caption("Minor findings, under 1% of the wall time or under 50 µs:")
        tables.show(
            minor,
            "advice_of_steps",
            key="checks",
            hidden=["unknown_reason"],
            labels={"kind": "what", "bound_ns": "at most", "percent": "share"},
        )
