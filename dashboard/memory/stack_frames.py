"""The frames of a stack."""

import re
from collections.abc import Iterable
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import formatting, tables
from dashboard.widgets import menu
from ingest.server import select

UNKNOWN = {"", "??"}
OWN = "your own"
LINES = 8  # lines of a shortened stack
OWN_LINES = 4  # maximum number of these lines from the user's own code
LINE_WIDTH = 90  # characters


def show(run: str, stack: int, key: str = "stack") -> None:
    """Show a stack, innermost frame first: the user's own frames, and all others on request."""
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
            st.markdown(f"**Stack, innermost first: {count}**", width="content")
        else:
            st.markdown(f"**Stack: {len(best):,} {kind} of {count}**", width="content")
            if st.toggle("All frames", key=f"{key}-all"):
                best = frame
        menu.show({"stack": query}, f"{run}-{key}-{stack}")
    shown = pd.DataFrame(
        {
            "depth": best["depth"],
            "of": [_owner(row) for row in best.itertuples()],
            "function": best["function"],
            "filename": [_file_and_line(row) for row in best.itertuples()],
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
    """Return the most useful frames, and their kind.

    These are the frames of the user's code, else all Python frames, else all frames. A stack of a
    snapshot begins with about 20 frames of the allocator and of torch.
    """
    python = frame[frame["is_python"]]
    own = python[~python["is_library"]]
    if not own.empty:
        return "in your code", own
    return ("in Python", python) if not python.empty else ("", frame)


def innermost(run: str, stacks: Iterable[int]) -> dict[int, list[str]]:
    """Return a shortened stack for each id: the innermost Python lines, some of the user's code."""
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
        return [f"{formatting.counted(len(frames), 'C++ frame')}, no Python frames"]
    own = set(python.index[~python["is_library"]][:OWN_LINES])
    others = [index for index in python.index if index not in own][: LINES - len(own)]
    shown = python.loc[sorted([*own, *others])]
    return [_line(row) for row in shown.itertuples()]


def _line(row: Any) -> str:
    """Return `file:line function`, marked if it is the user's own code."""
    name = re.sub(r".*[/\\]", "", str(row.filename))
    location = name if formatting.missing(row.line) else f"{name}:{row.line:.0f}"
    line = formatting.clipped(f"{location} {row.function}", LINE_WIDTH)
    return f"{line} ({OWN})" if _owner(row) == OWN else line


def _owner(row: Any) -> str:
    """Return whose code a frame is in: the user's own, a library's, or C++."""
    if not row.is_python:
        return "C++"
    return "a library" if row.is_library else OWN


def _file_and_line(row: Any) -> str | None:
    """Return the directory, file and line. Downloads have the full path."""
    if formatting.missing(row.filename) or row.filename in UNKNOWN:
        return None
    name = "/".join(re.split(r"[/\\]", row.filename)[-2:])
    return name if formatting.missing(row.line) else f"{name}:{row.line:.0f}"
