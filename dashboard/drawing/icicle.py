"""Flame graphs with a box per call below its caller. The width is the call's time or bytes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from dashboard.drawing import colours, component, formatting
from ingest import server

HERE = Path(__file__).parent
MAX_LEVELS = 36  # deeper calls appear when the user clicks a box
NAME_WIDTH = 200  # characters in tooltips
ALL = "all"  # the id of the root box


def draw(
    boxes: pd.DataFrame,
    written: Callable[[float | None], str],
    on_pick: Callable[[str], None],
    *,
    search: str,
    is_compared: bool,
    key: str,
) -> None:
    """Draw the rows of `flame_graph`, callers first. Calls of one caller are in order of width.

    `written` formats a value. `on_pick` is called with the id of the box that the user clicks; for
    a box of calls that are not shown, this is the id of their caller, or `all`. Boxes whose name
    contains `search` keep their colour. Compared boxes are red if they took more than in the first
    run, and blue if less.
    """
    outermost = boxes[boxes["caller_id"].isna()]
    whole = outermost["width"].sum()
    placed = _placed(boxes)
    placed = placed.assign(colour=_colours(placed, search, is_compared))
    placed = placed[placed["level"] <= MAX_LEVELS]
    root = {
        "id": ALL,
        "level": 0,
        "left": 0.0,
        "width": 1.0,
        "name": ALL,
        "colour": colours.no_box(),
        "text": _hover(ALL, outermost.sum(numeric_only=True, min_count=1), whole, written),
    }
    component.load(HERE, "icicle", "icicle").draw(
        key,
        data={
            "levels": int(placed["level"].max()) + 1,
            "ink": colours.BOX_INK,
            "edge": colours.BOX_EDGE,
            "boxes": [
                root,
                *(
                    {
                        "id": row.picks,
                        "level": row.level,
                        "left": row.left / whole,
                        "width": row.width / whole,
                        "name": formatting.short_name(formatting.clipped(row.name, NAME_WIDTH)),
                        "colour": row.colour,
                        "text": _hover(row.name, row._asdict(), whole, written),
                    }
                    for row in placed.itertuples(index=False, name="Box")
                ),
            ],
        },
        on_picked_change=lambda: on_pick(str(component.state(key)["picked"])),
    )


def _placed(boxes: pd.DataFrame) -> pd.DataFrame:
    """Return the boxes with their levels, left edges and `picks`, the id that a click picks."""
    callers = boxes["caller_id"].fillna(ALL).astype(str)
    boxes = boxes.assign(
        name=boxes["name"].astype(str),
        caller=callers,
        picks=boxes["id"].fillna(callers).astype(str),
    )
    level = {ALL: 0}
    for row in boxes.itertuples():
        level.setdefault(row.picks, level[row.caller] + 1)
    boxes = boxes.assign(level=[level[caller] + 1 for caller in boxes["caller"]])
    # The box of the calls that are not shown is the last of its caller.
    boxes = boxes.assign(is_rest=boxes["id"].isna()).sort_values(
        ["level", "is_rest", "width"], ascending=[True, True, False], kind="stable"
    )
    free = {ALL: 0.0}  # where the next box of a caller begins
    lefts = []
    for row in boxes.itertuples():
        left = free[row.caller]
        free[row.caller] = left + row.width
        free.setdefault(row.picks, left)
        lefts.append(left)
    return boxes.assign(left=lefts)


def _hover(name: str, row: Any, whole: float, written: Callable[[float | None], str]) -> str:
    share = formatting.percent(100 * row["width"] / whole)
    total = written(row["total_value"])
    if not formatting.missing(row["total_base"]):
        change = row["total_value"] - row["total_base"]
        total = f"{written(row['total_base'])} → {total} ({formatting.change(change, written)})"
    return f"{formatting.clipped(name, NAME_WIDTH)}\n{total}, {share} of the graph"


def _colours(boxes: pd.DataFrame, search: str, is_compared: bool) -> list[str]:
    wanted = search.lower()
    found = [wanted in name.lower() for name in boxes["name"]]
    if is_compared:
        shown = [
            colours.of_change(row.total_value - row.total_base, row.width)
            for row in boxes.itertuples()
        ]
    else:
        unknown = colours.BOXES["python_function"]
        shown = [
            colours.no_box()
            if row.name == server.names.OTHER
            else colours.BOXES.get(row.kind, unknown).colour
            for row in boxes.rename(columns={"category": "kind"}).itertuples(index=False)
        ]
    return [
        colour if is_found else colours.no_box()
        for colour, is_found in zip(shown, found, strict=True)
    ]
