"""A query's result on the screen: exact integers, floats with six digits, the rest in full."""

import math

import pandas as pd
import streamlit as st

import ingest
from dashboard.drawing import formatting, tables
from dashboard.widgets import menu

SHOWN_ROWS = 1_000
SHOWN_COLUMNS = 200
SHOWN_CELLS = 20_000  # a browser draws as many in a third of a second
SHOWN_CHARACTERS = 4_000_000  # of all cells together; downloads have all of them
LONGEST_CELL = 1_000
LONGEST_HEADING = 60
FLOAT_DIGITS = 6  # significant ones; digits before the point all stay


def on_screen(result: ingest.Result) -> pd.DataFrame:
    """The first rows and columns, with the beginning of long texts and rounded floats."""
    columns = min(SHOWN_COLUMNS, result.table.num_columns)
    frame = result.part(min(SHOWN_ROWS, SHOWN_CELLS // max(1, columns)), columns).frame()
    for place, kind in enumerate(frame.dtypes):
        if pd.api.types.is_float_dtype(kind):
            frame.isetitem(place, frame.iloc[:, place].map(_rounded))
        elif pd.api.types.is_bool_dtype(kind):
            frame.isetitem(place, frame.iloc[:, place].map({True: "true", False: "false"}))
    return tables.clipped(frame, min(LONGEST_CELL, SHOWN_CHARACTERS // max(1, frame.size)))


def _rounded(value: float) -> float:
    if not value or not math.isfinite(value):
        return value
    return round(value, max(0, FLOAT_DIGITS - 1 - math.floor(math.log10(abs(value)))))


def show(result: ingest.Result, shown: pd.DataFrame, key: str) -> None:
    """The table, a line on the rows that it leaves out, and downloads of the whole result.

    `key` is of the query: another query's table starts unsorted.
    """
    count, width = result.table.num_rows, result.table.num_columns
    took = formatting.duration(result.seconds * 1e9)
    st.caption(
        f"{formatting.counted(count, 'row')} in {took}"
        + ("" if result.complete else f"; there are more: a result ends at {result.cut_at}")
        + (f"; the first {len(shown):,} are shown" if count > len(shown) else "")
        + (f"; the first {SHOWN_COLUMNS} columns are shown" if width > SHOWN_COLUMNS else "")
        + f". Floats have {FLOAT_DIGITS} digits here, all in downloads. {formatting.NONE} is NULL."
    )
    names = [str(name) for name in shown.columns]
    # Tables write a value by the name of its column, in milliseconds or GiB. A query's values are
    # shown as they are, so its columns get names that mean nothing.
    places = [f"column {place}" for place in range(len(names))]
    frame = shown.set_axis(places, axis="columns")
    is_empty = frame.isna().all()
    tables.show(
        # A table leaves out columns without a value; here they are part of the answer.
        frame.assign(**{place: formatting.NONE for place in places if is_empty[place]}),
        "",
        key=f"result-{key}",
        labels={
            place: formatting.clipped(name, LONGEST_HEADING)
            for place, name in zip(places, names, strict=True)
        },
        numbers=[
            place
            for place, name in zip(places, names, strict=True)
            if name in result.numeric_columns and not pd.api.types.is_numeric_dtype(frame[place])
        ],
    )
    with st.container(horizontal=True):
        menu.downloads({"csv": result.csv, "parquet": result.parquet}, "query")
