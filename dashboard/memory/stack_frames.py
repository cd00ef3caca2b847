"""A stack, frame by frame."""

import re
from collections.abc import Iterable
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.query import select
from dashboard.widgets import formatting, menu, tables

UNKNOWN = {"", "??"}
OWN = "your own"
LINES = 8  # of a stack in short
OWN_LINES = 4  # of these, as many are kept for the user's own
LINE_WIDTH = 90  # characters
WIDTHS = {"depth": 40, "of": 90, "function": 330}


def show(run: str, stack: int, key: str = "stack") -> None:
    """All frames of a stack, innermost first."""
    query = select(
        "depth, function, filename, line, is_python, is_library",
        "stack_frames",
        {"run_id": run, "stack_id": stack},
        order_by="depth",
    )
    frame = data.rows(query)
    st.markdown(f"**Its stack, innermost first: {formatting.counted(len(frame), 'frame')}**")
    shown = pd.DataFrame(
        {
            "depth": frame["depth"],
            "of": [_owner(row) for row in frame.itertuples()],
            "function": frame["function"],
            "filename": [_place(row) for row in frame.itertuples()],
        }
    )
    tables.show(
        shown,
        "stack_frames",
        key=f"{key}-{run}-{stack}",
        widths=WIDTHS,
        labels={"depth": "#", "of": "code of", "filename": "line"},
    )
    own = shown[shown["of"] == OWN]
    if not own.empty:
        first = own.iloc[0]
        place = formatting.literal(formatting.clipped(str(first["filename"]), 160))
        st.caption(f"Your own code comes first at #{first['depth']}: {place}")
    menu.show({"stack": query}, f"{run}-{key}-{stack}")


def innermost(run: str, stacks: Iterable[int]) -> dict[int, list[str]]:
    """Each stack in short: the innermost lines of Python, with some of the user's own."""
    query = select(
        "stack_id, function, filename, line, is_python, is_library",
        "stack_frames",
        {"run_id": run, "stack_id": [int(stack) for stack in stacks]},
        order_by="stack_id, depth",
    )
    frames = data.rows(query)
    return {int(stack): _short(of_stack) for stack, of_stack in frames.groupby("stack_id")}


def _short(frames: pd.DataFrame) -> list[str]:
    python = frames[frames["is_python"]]
    if python.empty:
        return [f"{formatting.counted(len(frames), 'frame')} of C++, none of Python"]
    own = set(python.index[~python["is_library"]][:OWN_LINES])
    others = [place for place in python.index if place not in own][: LINES - len(own)]
    shown = python.loc[sorted([*own, *others])]
    return [_line(row) for row in shown.itertuples()]


def _line(row: Any) -> str:
    """`file:line function`, and whether it is the user's own."""
    name = re.sub(r".*[/\\]", "", str(row.filename))
    place = name if formatting.missing(row.line) else f"{name}:{row.line:.0f}"
    line = formatting.clipped(f"{place} {row.function}", LINE_WIDTH)
    return f"{line} ({OWN})" if _owner(row) == OWN else line


def _owner(row: Any) -> str:
    """Whose line it is, so that one's own stand out."""
    if not row.is_python:
        return "C++"
    return "a library" if row.is_library else OWN


def _place(row: Any) -> str | None:
    if formatting.missing(row.filename) or row.filename in UNKNOWN:
        return None
    return row.filename if formatting.missing(row.line) else f"{row.filename}:{row.line:.0f}"
