"""Page Ranks: which rank makes the others wait, and what each rank did."""

import streamlit as st

from dashboard import data
from dashboard.ranks import (
    answer,
    bandwidth,
    causes,
    collectives,
    groups,
    lateness,
    matrix,
    path,
    table,
)
from dashboard.widgets import incomplete_runs
from dashboard.widgets.view import View
from ingest.server import Value, reports


def page(view: View) -> None:
    """Draw the page."""
    if view.run is None or view.device is None:
        incomplete_runs.no_activity(str(view.run))
        return
    where: dict[str, Value] = {"run_id": view.run, **view.steps.where()}
    section = reports.rank_views.ranks(where)
    frame = table.labelled(data.rows(section.query))
    found = answer.of_run(view.run)
    answer.show(view, found, frame)
    if len(frame) > 1:
        matrix.show(view, where, section.query, frame, found)
    causes.show(view, found)
    path.show(view, found)
    if len(found.clocks) > 1 and not found.matching.empty:
        left, right = st.container(key="beside-lateness").columns(2, gap="medium")
        with left:
            lateness.show(view, found)
        with right:
            bandwidth.show(view)
    if not frame.empty:
        table.show(view, section, frame)
    collectives.show(view)
    groups.show(view)
