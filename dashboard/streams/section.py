"""A table with a heading, as page Streams shows it."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import tables
from dashboard.widgets import menu
from dashboard.widgets.view import View
from ingest.server import Query


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
    """Draw the rows of the query, or the text `nothing` if there are none.

    The relation `of` describes their columns. Return the rows.
    """
    key = title.lower().replace(" ", "-")
    menu.heading(title, {title.lower(): query}, key, help, files=view.files)
    frame = data.rows(query)
    if frame.empty:
        st.caption(nothing)
    else:
        tables.show(frame, of, key=key, labels=labels, bars=bars)
    return frame
