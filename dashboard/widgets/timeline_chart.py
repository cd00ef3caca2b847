"""The chart of a timeline: how busy a device or host was, and what ran or idled when."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.widgets import charts, colours, formatting
from ingest import units

HERE = Path(__file__).parent
GAPS = "idle"  # the lane of the gaps in view `activity_timeline`
HOST = "operators on the host"  # the part of all lanes of the host below those of a device
HOST_COLOUR = colours.UNKNOWN_OWNERS[1]
NAME_WIDTH = 160  # characters of a name on hover
TICKS = 6


def draw(
    occupancy: pd.DataFrame,
    moments: pd.DataFrame,
    since: int,
    until: int,
    *,
    details: Mapping[str, str],
    origin: str,
    key: str,
    on_zoom: Callable[[int, int], None],
    steps: pd.DataFrame | None = None,
) -> None:
    """A strip of how busy it was above a lane for each stream or thread, from `since` to `until`.

    `occupancy` has a row for each part of each stretch: start_ns, end_ns, part, part_ns, percent.
    `moments` has what ran or idled, the longest first: lane, part, start_ns, end_ns, dur_ns, where
    given is_faint, and the columns of `details`, which maps columns to their titles on hover. The
    chart marks where `steps` begin and end. All times are ns since the `origin`. A drag calls
    `on_zoom` with a stretch.
    """
    palette = _palette({*occupancy["part"], *moments["part"]})
    lanes = sorted(set(moments["lane"]), key=_lane_order)
    length = until - since
    _component()(
        key=key,
        data={
            "since": since,
            "until": until,
            "origin": f"since the start of the {origin}",
            "ticks": [
                {"at": at, "text": units.position(round(at), length)}
                for at in charts.ticks(since, until, TICKS)
            ],
            "palette": list(palette.values()),
            "busy": _busy(occupancy, list(palette)),
            "lanes": lanes,
            "items": _items(moments, list(palette), lanes, details),
            "marks": [] if steps is None else _marks(steps, since, until),
        },
        on_zoomed_change=lambda: on_zoom(*st.session_state[key]["zoomed"]),
    )


def legend(parts: set[str]) -> None:
    """What the colours of the chart's parts mean."""
    charts.legend({_label(part): colour for part, colour in _palette(parts).items()})


def _palette(parts: set[str]) -> dict[str, str]:
    """The colour of each part, in the order of stacks."""
    known = {part: colours.of(part) for part in colours.order(parts)}
    return known | ({HOST: HOST_COLOUR} if HOST in parts else {})


def _label(part: str) -> str:
    return part if part == HOST else colours.label(part)


@cache
def _component() -> Any:
    return st.components.v2.component(
        "tracehouse_timeline",
        html='<div class="timeline"></div>',
        css=(HERE / "timeline.css").read_text(encoding="utf-8"),
        js=(HERE / "timeline.js").read_text(encoding="utf-8"),
    )


def _busy(occupancy: pd.DataFrame, parts: list[str]) -> dict[str, list[Any]]:
    """The strip's boxes, those of a stretch from the bottom up."""
    rows = occupancy.assign(colour=occupancy["part"].map(parts.index))
    rows = rows.sort_values(["start_ns", "colour"])
    return {
        "from": rows["start_ns"].tolist(),
        "to": rows["end_ns"].tolist(),
        "colour": rows["colour"].tolist(),
        "percent": rows["percent"].tolist(),
        "text": [
            f"{_label(row.part)}: {formatting.percent(row.percent)}, "
            f"{formatting.duration(row.part_ns)}"
            for row in rows.itertuples()
        ],
    }


def _items(
    moments: pd.DataFrame, parts: list[str], lanes: list[str], details: Mapping[str, str]
) -> dict[str, Any]:
    """The boxes of the lanes. A name is sent once, as most occur often."""
    places: dict[str, int] = {}
    titled = {column: title for column, title in details.items() if column in moments}
    named = {
        title: [
            -1 if formatting.missing(name) else places.setdefault(str(name), len(places))
            for name in moments[column]
        ]
        for column, title in titled.items()
    }
    return {
        "from": moments["start_ns"].tolist(),
        "to": moments["end_ns"].tolist(),
        "lane": moments["lane"].map(lanes.index).tolist(),
        "colour": moments["part"].map(parts.index).tolist(),
        "faint": moments["is_faint"].tolist() if "is_faint" in moments else [],
        "text": [
            f"{_label(row.part)}: {formatting.duration(row.dur_ns)} at "
            f"{formatting.duration(row.start_ns)}"
            for row in moments.itertuples()
        ],
        "details": named,
        "names": [formatting.short_name(name, NAME_WIDTH) for name in places],
    }


def _marks(steps: pd.DataFrame, since: int, until: int) -> list[dict[str, Any]]:
    """Where steps begin and end; a step's name at its beginning."""
    names = {max(row.start_ns, since): f"step {row.step:,}" for row in steps.itertuples()}
    edges = {*steps["start_ns"], *steps["end_ns"]}
    inside = sorted({edge for edge in edges if since <= edge <= until} | set(names))
    return [{"at": int(at), "text": names.get(at), "isEdge": at in edges} for at in inside]


def _lane_order(lane: str) -> tuple[bool, bool, str, int]:
    """Where a lane stands: the gaps, the streams by number, and below them the host's threads."""
    what, _, number = lane.rpartition(" ")
    return (
        lane != GAPS,
        what == "thread",
        what,
        int(number) if number.isdecimal() else -1,
    )
