"""The chart of a timeline: the occupancy of a device or host, and what ran when."""

from collections.abc import Callable, Mapping

import pandas as pd

from dashboard.drawing import charts, colours, formatting, lanes
from dashboard.drawing.lanes import Mark
from ingest.server import units

GAPS = "idle"  # the lane of the gaps in view `activity_timeline`
HOST = "operators on the host"  # the part of all host lanes below the lanes of a device
TICKS = 6
PLACES = 100  # tooltips distinguish this many start times over the width of the chart


def draw(
    strips: Mapping[str, pd.DataFrame],
    moments: pd.DataFrame,
    since: int,
    until: int,
    *,
    parts: set[str],
    details: Mapping[str, str],
    origin: str,
    key: str,
    file: str,
    of: str,
    on_zoom: Callable[[int, int], None],
    steps: pd.DataFrame | None = None,
) -> None:
    """Draw strips, for example of occupancy, above a lane for each stream or thread.

    The chart shows the times from `since` to `until`. All times are in ns since the start of the
    `origin`.

    strips   strips by name, as in `lanes.draw`; `strip` makes one
    moments  activities and gaps, longest first: lane, part, start_ns, end_ns, dur_ns, the columns
             of `details`, and optionally is_faint
    parts    the parts in the legend
    details  titles in tooltips, by column
    file     the file name of the picture
    of       the name of what is shown
    on_zoom  called with the ends of a range after a drag
    steps    steps whose start and end the chart marks
    """
    names = sorted(set(moments["lane"]), key=_lane_order)
    ticks = [
        (at, units.position(round(at), until - since)) for at in charts.ticks(since, until, TICKS)
    ]
    apart_ns = max(1, (until - since) // PLACES)
    labels = {part: _label(part) for part in set(moments["part"])}
    lanes.draw(
        moments.assign(
            lane=moments["lane"].map(names.index),
            start=moments["start_ns"],
            end=moments["end_ns"],
            colour=moments["part"].map(_colours(moments)),
            text=[
                f"{labels[part]}: {formatting.duration(taken)} at {units.position(start, apart_ns)}"
                for part, taken, start in zip(
                    moments["part"], moments["dur_ns"], moments["start_ns"], strict=True
                )
            ],
        ),
        names,
        lanes.Axis(since, until, ticks, f"since the start of the {origin}"),
        key=key,
        alt=f"Timeline of {of}: its occupancy, and what ran when",
        file=file,
        legend=meanings(parts),
        details=details,
        strips=strips,
        marks=[] if steps is None else step_marks(steps, since, until),
        on_zoom=on_zoom,
    )


def legend(parts: set[str]) -> None:
    """Show the legend of the parts' colours."""
    charts.legend(meanings(parts))


def meanings(parts: set[str]) -> dict[str, str]:
    """Return the colour of each part, by label."""
    shown = [*colours.order(parts), *([HOST] if HOST in parts else [])]
    return {_label(part): _colour(part) for part in shown}


def _colours(frame: pd.DataFrame) -> dict[str, str]:
    return {part: _colour(part) for part in set(frame["part"])}


def _colour(part: str) -> str:
    return colours.NEUTRAL if part == HOST else colours.of(part)


def _label(part: str) -> str:
    return part if part == HOST else colours.label(part)


def strip(occupancy: pd.DataFrame) -> pd.DataFrame:
    """Return a strip with the parts of each bin, from the bottom up in stacking order."""
    rows = occupancy.assign(order=occupancy["part"].map(colours.place))
    rows = rows.sort_values(["start_ns", "order"])
    return rows.assign(
        start=rows["start_ns"],
        end=rows["end_ns"],
        colour=rows["part"].map(_colours(rows)),
        when=when(rows),
        text=[
            f"{_label(row.part)}: {formatting.percent(row.percent)}, "
            f"{formatting.duration(row.part_ns)}"
            for row in rows.itertuples()
        ],
    )


def value_strip(bins: pd.DataFrame, column: str, texts: list[str], colour: str) -> pd.DataFrame:
    """Return a strip of a value in each bin, relative to the highest; `texts` are its tooltips."""
    return bins.assign(
        start=bins["start_ns"],
        end=bins["end_ns"],
        colour=colour,
        percent=100 * bins[column] / (bins[column].max() or 1),
        when=when(bins),
        text=texts,
    )


def when(bins: pd.DataFrame) -> list[str]:
    """Return the text "start to end" for each bin."""
    return [
        f"{units.position(start, end - start)} to {units.position(end, end - start)}"
        for start, end in zip(bins["start_ns"], bins["end_ns"], strict=True)
    ]


def step_marks(steps: pd.DataFrame, since: int, until: int) -> list[Mark]:
    """Return marks at the starts and ends of steps, with the name of the step at its start."""
    names = {max(row.start_ns, since): f"step {row.step:,}" for row in steps.itertuples()}
    edges = {*steps["start_ns"], *steps["end_ns"]}
    inside = sorted({edge for edge in edges if since <= edge <= until} | set(names))
    return [Mark(int(at), names.get(at, ""), at in edges) for at in inside]


def _lane_order(lane: str) -> tuple[bool, bool, str, int]:
    """Return the sort key of a lane: gaps first, then streams by number, then host threads."""
    what, _, number = lane.rpartition(" ")
    return (
        lane != GAPS,
        what == "thread",
        what,
        int(number) if number.isdecimal() else -1,
    )
