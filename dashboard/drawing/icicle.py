"""Flame graphs with a box per call below its caller. The width is the call's time or bytes."""

import html
from collections.abc import Callable
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

import ingest
from dashboard.drawing import colours, formatting

MOST_LEVELS = 36  # deeper calls appear when the user clicks a box
LEVEL_PIXELS = 20
NAME_WIDTH = 200  # characters in tooltips
ALL = "all"  # the id of the root box


def draw(
    boxes: pd.DataFrame,
    written: Callable[[float | None], str],
    *,
    search: str,
    is_compared: bool,
    key: str,
) -> str | None:
    """Draw the rows of `flame_graph`, callers first. Return the id of the clicked box.

    For a box of calls that are not shown, that is their caller, or `all`. `written` formats a
    value. Boxes whose name contains `search` keep their colour. Compared boxes are red if they took
    more than in the first run, and blue if less.
    """
    outermost = boxes[boxes["caller_id"].isna()]
    whole = outermost["width"].sum()
    names = [formatting.clipped(str(name), NAME_WIDTH) for name in boxes["name"]]
    ids = [_id(row) for row in boxes.itertuples()]
    levels = min(MOST_LEVELS, _levels(boxes))
    figure = go.Figure(
        go.Icicle(
            ids=[ALL, *ids],
            parents=["", *boxes["caller_id"].fillna(ALL)],
            labels=[ALL, *map(formatting.short_name, names)],
            values=[whole, *boxes["width"]],
            branchvalues="total",
            customdata=[
                _hover(ALL, outermost.sum(numeric_only=True, min_count=1), whole, written),
                *(
                    _hover(name, row, whole, written)
                    for name, (_, row) in zip(names, boxes.iterrows(), strict=True)
                ),
            ],
            hovertemplate="%{customdata}<extra></extra>",
            marker={
                "colors": [colours.no_box(), *_colours(boxes, search, is_compared)],
                "line": {"width": 0.5, "color": colours.BOX_EDGE},
            },
            textfont={"color": colours.BOX_INK, "size": 12},
            tiling={"orientation": "v"},
            pathbar={"visible": False},
            maxdepth=levels + 1,
            sort=True,
            leaf={"opacity": 1},
        )
    )
    figure.update_layout(
        height=LEVEL_PIXELS * (levels + 1),
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        uniformtext={"minsize": 11, "mode": "hide"},
        paper_bgcolor="rgba(0, 0, 0, 0)",
    )
    event: Any = st.plotly_chart(
        figure,
        key=key,
        on_select="rerun",
        selection_mode="points",
        config={"displayModeBar": False},
        theme=None,
    )
    points = event["selection"]["points"]
    return points[0].get("id", "").removeprefix(f"{ingest.names.OTHER} ") if points else None


def _id(row: Any) -> str:
    if not formatting.missing(row.id):
        return str(row.id)
    caller = ALL if formatting.missing(row.caller_id) else row.caller_id
    return f"{ingest.names.OTHER} {caller}"


def _levels(boxes: pd.DataFrame) -> int:
    """Return the depth of the graph. Callers come first in the rows."""
    depth: dict[str | None, int] = {None: 0}
    for row in boxes.itertuples():
        caller = None if formatting.missing(row.caller_id) else str(row.caller_id)
        depth[_id(row)] = depth[caller] + 1
    return max(depth.values())


def _hover(name: str, row: Any, whole: float, written: Callable[[float | None], str]) -> str:
    share = formatting.percent(100 * row["width"] / whole)
    total = written(row["total_value"])
    if not formatting.missing(row["total_base"]):
        change = row["total_value"] - row["total_base"]
        total = f"{written(row['total_base'])} → {total} ({formatting.change(change, written)})"
    return f"{html.escape(name)}<br>{total}, {share} of the graph"


def _colours(boxes: pd.DataFrame, search: str, is_compared: bool) -> list[str]:
    wanted = search.lower()
    found = [wanted in str(name).lower() for name in boxes["name"]]
    if is_compared:
        shown = [
            colours.of_change(row.total_value - row.total_base, row.width)
            for row in boxes.itertuples()
        ]
    else:
        unknown = colours.BOXES["python_function"]
        shown = [
            colours.no_box()
            if row.name == ingest.names.OTHER
            else colours.BOXES.get(row.kind, unknown).colour
            for row in boxes.rename(columns={"category": "kind"}).itertuples(index=False)
        ]
    return [
        colour if is_found else colours.no_box()
        for colour, is_found in zip(shown, found, strict=True)
    ]
