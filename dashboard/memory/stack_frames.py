"""A stack, frame by frame."""

import re
from collections.abc import Iterable
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import formatting, tables
from dashboard.query import select
from dashboard.widgets import menu

UNKNOWN = {"", "??"}
OWN = "your own"
LINES = 8  # of a stack in short
OWN_LINES = 4  # of these, as many are kept for the user's own
LINE_WIDTH = 90  # characters


def show(run: str, stack: int, key: str = "stack") -> None:
    """A stack, innermost first: the user's own frames, and all others when asked for."""
    query = select(
        "depth, function, filename, line, is_python, is_library",
        "stack_frames",
        {"run_id": run, "stack_id": stack},
        order_by="depth",
    )
    frame = data.rows(query)
    kind, best = _best(frame)
    count = formatting.counted(len(frame), "frame")
    with st.container(horizontal=True, vertical_alignment="center"):
        if len(best) == len(frame):
            st.markdown(f"**Its stack, innermost first: {count}**", width="content")
        else:
            st.markdown(f"**Its stack: {len(best):,} {kind} of {count}**", width="content")
            if st.toggle("All frames", key=f"{key}-all"):
                best = frame
        menu.show({"stack": query}, f"{run}-{key}-{stack}")
    shown = pd.DataFrame(
        {
            "depth": best["depth"],
            "of": [_owner(row) for row in best.itertuples()],
            "function": best["function"],
            "filename": [_place(row) for row in best.itertuples()],
        }
    )
    tables.show(
        shown,
        "stack_frames",
        key=f"{key}-{run}-{stack}-{len(best)}",
        hidden=["of"] if shown["of"].nunique() == 1 else [],
        labels={"depth": "#", "of": "code of", "filename": "line"},
    )


def _best(frame: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """The most useful frames, and their kind: the user's own, else all of Python, else all.

    A stack of a snapshot begins with about 20 frames of the allocator and of torch.
    """
    python = frame[frame["is_python"]]
    own = python[~python["is_library"]]
    if not own.empty:
        return "of your code", own
    return ("of Python", python) if not python.empty else ("", frame)


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
    """The file with the directory that it is in, and the line; downloads have the whole path."""
    if formatting.missing(row.filename) or row.filename in UNKNOWN:
        return None
    name = "/".join(re.split(r"[/\\]", row.filename)[-2:])
    return name if formatting.missing(row.line) else f"{name}:{row.line:.0f}"
