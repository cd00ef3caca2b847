"""Page Bubbles: when and why a device or a host was idle."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.bubbles import gaps
from dashboard.drawing import colours, formatting, tables
from dashboard.widgets import incomplete_runs, menu, metrics, split, timeline, url
from dashboard.widgets.view import View
from ingest import server
from ingest.server import Query, select

HOST_IDLE = "Neither an operator nor compiled code ran."


def page(view: View) -> None:
    """Draw the page."""
    if view.device is None:
        incomplete_runs.no_activity(str(view.run))
        return
    if view.is_host:
        st.info(
            f"{incomplete_runs.no_device([str(view.run)])} "
            "The host counts as idle while neither an operator nor compiled code runs.",
            icon=":material/memory:",
        )
    query = split.causes(view)
    causes = data.rows(query)
    with metrics.of_view(view):
        for first in causes.head(1).itertuples():
            share = f"{formatting.percent(first.percent)} of the idle time"
            metrics.with_share(f"Mostly: {first.cause}", first.idle_ns, share)
    cause = _causes(view, query, causes)
    timeline.show(view)
    if not view.is_host:
        gaps.show(view, cause)
        split.show(view)


def _causes(view: View, query: Query, frame: pd.DataFrame) -> str | None:
    """Draw the causes by idle time, and return the ticked one."""
    menu.heading("Causes", {"causes": query}, "causes", files=view.files)
    if frame.empty:
        whose = "host" if view.is_host else "device"
        st.success(f"There are no gaps: the {whose} was always busy.", icon=":material/check:")
        return None
    meanings = {part.name: part.text for part in server.parts()}
    if view.is_host:
        meanings["host"] = HOST_IDLE
    names = list(frame["cause"])
    cause = st.query_params.get("cause")
    rows = tables.show(
        frame.assign(meaning=frame["cause"].map(meanings)),
        "bubble_causes",
        key=f"causes-{view.key}",
        bars=["idle_ns"],
        colours=[colours.of(name) for name in names],
        select="single-row",
        selected=[names.index(cause)] if cause in names else [],
    )
    hint = "" if view.is_host else "Click a cause to see only its gaps, and how to reduce them."
    st.caption(_remedy(view, names[rows[0]]) if rows else hint)
    chosen = names[rows[0]] if rows else None
    url.remember("cause", chosen)
    return chosen


def _remedy(view: View, cause: str) -> str:
    """Return what the run can still try against a cause."""
    query = select("remedy", "run_remedies", {"run_id": view.run, "cause": cause})
    (row,) = data.rows(query).itertuples()
    return f"To reduce **{cause}**: {formatting.literal(row.remedy)}"
