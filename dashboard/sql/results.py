"""A query's result on the screen: whole values, in columns as wide as their figures."""

from typing import Any

import pandas as pd
import streamlit as st

import ingest
from dashboard.widgets import formatting, menu, tables

SHOWN_ROWS = 1_000
SHOWN_COLUMNS = 200
SHOWN_CHARACTERS = 4_000_000  # of all cells together; downloads have all of them
LONGEST_CELL = 1_000
LONGEST_HEADING = 60
TALL, TALL_PIXELS = 14, 526  # a result of more rows scrolls
EXACT = 2**53  # integers beyond it lose digits in a browser
DIGIT_PIXELS = 8
MARGIN_PIXELS = 24
WIDEST_PIXELS = 420


def on_screen(result: ingest.Result) -> pd.DataFrame:
    """The first rows and columns, with the beginning of long texts.

    Integers that a browser cannot hold exactly become text.
    """
    frame = result.part(SHOWN_ROWS, SHOWN_COLUMNS).frame()
    for column in frame.columns:
        values = frame[column]
        if pd.api.types.is_integer_dtype(values) and (values.abs() > EXACT).any():
            frame[column] = values.astype("string")
    return tables.clipped(frame, min(LONGEST_CELL, SHOWN_CHARACTERS // max(1, frame.size)))


def show(result: ingest.Result, shown: pd.DataFrame) -> None:
    """The table, what of the result it leaves out, and the downloads of all."""
    count, width = result.table.num_rows, result.table.num_columns
    took = formatting.duration(result.seconds * 1e9)
    st.caption(
        f"{formatting.counted(count, 'row')} in {took}"
        + ("" if result.complete else f"; there are more: a result ends at {result.cut_at}")
        + (f"; the first {SHOWN_ROWS:,} are shown" if count > SHOWN_ROWS else "")
        + (f"; the first {SHOWN_COLUMNS} columns are shown" if width > SHOWN_COLUMNS else "")
    )
    st.dataframe(
        shown,
        hide_index=True,
        key="result",
        placeholder="NULL",
        height=TALL_PIXELS if count > TALL else "auto",
        column_config={
            column: _column(column, shown[column], column in result.numeric_columns)
            for column in shown.columns
        },
    )
    with st.container(horizontal=True):
        menu.downloads({"csv": result.csv, "parquet": result.parquet}, "query")


def _column(name: str, values: pd.Series, is_figure: bool) -> Any:
    """A column that shows its numbers with all digits; Streamlit sizes it by its first rows."""
    heading = formatting.clipped(name, LONGEST_HEADING)
    if not is_figure:
        return st.column_config.Column(heading)
    longest = max(map(len, [heading, *map(str, values.dropna())]))
    width = min(DIGIT_PIXELS * longest + MARGIN_PIXELS, WIDEST_PIXELS)
    if pd.api.types.is_numeric_dtype(values):
        return st.column_config.NumberColumn(heading, format="plain", width=width)
    return st.column_config.Column(heading, alignment="right", width=width)
