"""The table of a query's result, with exact integers and floats of six digits."""

import math

import pandas as pd
import streamlit as st

from dashboard.drawing import formatting, tables
from dashboard.widgets import menu
from ingest import server

SHOWN_ROWS = 1_000
SHOWN_COLUMNS = 200
SHOWN_CELLS = 20_000  # a browser draws these in a third of a second
SHOWN_CHARACTERS = 4_000_000  # in all cells together; downloads have the full texts
MAX_CELL_LENGTH = 1_000
MAX_HEADING_LENGTH = 60
FLOAT_DIGITS = 6  # significant digits; digits before the decimal point are never rounded


def on_screen(result: server.Result) -> pd.DataFrame:
    """Return the first rows and columns, with shortened texts and rounded floats."""
    columns = min(SHOWN_COLUMNS, result.table.num_columns)
    frame = result.part(min(SHOWN_ROWS, SHOWN_CELLS // max(1, columns)), columns).frame()
    for index, dtype in enumerate(frame.dtypes):
        if pd.api.types.is_float_dtype(dtype):
            frame.isetitem(index, frame.iloc[:, index].map(_rounded))
        elif pd.api.types.is_bool_dtype(dtype):
            frame.isetitem(index, frame.iloc[:, index].map({True: "true", False: "false"}))
    return tables.clipped(frame, min(MAX_CELL_LENGTH, SHOWN_CHARACTERS // max(1, frame.size)))


def _rounded(value: float) -> float:
    if not value or not math.isfinite(value):
        return value
    return round(value, max(0, FLOAT_DIGITS - 1 - math.floor(math.log10(abs(value)))))


def show(result: server.Result, shown: pd.DataFrame, key: str) -> None:
    """Draw the table, a caption about omitted rows and columns, and downloads of the full result.

    `key` identifies the query, so that the table of another query starts unsorted.
    """
    count, width = result.table.num_rows, result.table.num_columns
    took = formatting.duration(result.seconds * 1e9)
    st.caption(
        f"{formatting.counted(count, 'row')} in {took}"
        + ("" if result.complete else f"; the result was cut at {result.cut_at}")
        + (f"; the first {len(shown):,} rows are shown" if count > len(shown) else "")
        + (f"; the first {SHOWN_COLUMNS} columns are shown" if width > SHOWN_COLUMNS else "")
        + f". Floats are rounded to {FLOAT_DIGITS} digits, but not in downloads. "
        f"{formatting.NONE} means NULL."
    )
    names = [str(name) for name in shown.columns]
    # Tables format a value by the name of its column, as milliseconds or GiB. The values of a query
    # are shown unchanged, so its columns get neutral names.
    columns = [f"column {index}" for index in range(len(names))]
    frame = shown.set_axis(columns, axis="columns")
    is_empty = frame.isna().all()
    tables.show(
        # Tables leave out columns without a value. Here they are part of the result.
        frame.assign(**{column: formatting.NONE for column in columns if is_empty[column]}),
        None,
        key=f"result-{key}",
        labels={
            column: formatting.clipped(name, MAX_HEADING_LENGTH)
            for column, name in zip(columns, names, strict=True)
        },
        numbers=[
            column
            for column, name in zip(columns, names, strict=True)
            if name in result.numeric_columns and not pd.api.types.is_numeric_dtype(frame[column])
        ],
        rest_px=480,
    )
    with st.container(horizontal=True):
        menu.downloads({"csv": result.csv, "parquet": result.parquet}, "query")
