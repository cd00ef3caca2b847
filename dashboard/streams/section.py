"""A table of page Streams below its heading."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import tables
from dashboard.query import Query
from dashboard.widgets import menu
from dashboard.widgets.view import View


def show(
    view: View,
    title: str,
    query: Query,
    of: str,
    labels: dict[str, str],
    *,
    nothing: str,
    bars: tuple[str, ...] = (),
    help: str | None = None,
) -> pd.DataFrame:
    """Draws the rows of the query, which are of the relation `of`; without any, says `nothing`."""
    key = title.lower().replace(" ", "-")
    menu.heading(title, {title.lower(): query}, key, help, files=view.files)
    frame = data.rows(query)
    if frame.empty:
        st.caption(nothing)
    else:
        tables.show(frame, of, key=key, labels=labels, bars=bars)
    return frame
