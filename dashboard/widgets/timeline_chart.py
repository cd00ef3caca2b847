"""The chart of a timeline: how busy a device or host was, and what ran or idled when."""

from collections.abc import Callable, Mapping

import pandas as pd

from dashboard.drawing import charts, colours, formatting, lanes
from dashboard.drawing.lanes import Mark
from ingest import units

GAPS = "idle"  # the lane of the gaps in view `activity_timeline`
HOST = "operators on the host"  # the part of all lanes of the host below those of a device
TICKS = 6
PLACES = 100  # of a chart, whose times are written apart on hover


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
    """Strips, such as of how busy it was, above a lane for each stream or thread.

    They go from `since` to `until`. `strips` by name are as `lanes.draw` takes them; `strip` makes
    one. `moments` has what ran or idled, the longest first: lane, part, start_ns, end_ns, dur_ns,
    where given is_faint, and the columns of `details`, which maps columns to their titles on hover.
    `parts` are those of the legend. The chart marks where `steps` begin and end. All times are ns
    since the start of the `origin`. A drag calls `on_zoom` with a stretch. `file` is the name of
    the picture, `of` what is shown.
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
        alt=f"Timeline of {of}: how busy it was, and what ran when",
        file=file,
        legend=meanings(parts),
        details=details,
        strips=strips,
        marks=[] if steps is None else step_marks(steps, since, until),
        on_zoom=on_zoom,
    )


def legend(parts: set[str]) -> None:
    """What the colours of the chart's parts mean."""
    charts.legend(meanings(parts))


def meanings(parts: set[str]) -> dict[str, str]:
    """The colour of each part, by the part's label."""
    shown = [*colours.order(parts), *([HOST] if HOST in parts else [])]
    return {_label(part): _colour(part) for part in shown}


def _colours(frame: pd.DataFrame) -> dict[str, str]:
    return {part: _colour(part) for part in set(frame["part"])}


def _colour(part: str) -> str:
    return colours.NEUTRAL if part == HOST else colours.of(part)


def _label(part: str) -> str:
    return part if part == HOST else colours.label(part)


def strip(occupancy: pd.DataFrame) -> pd.DataFrame:
    """The parts of each stretch from the bottom up, in the order of stacks."""
    rows = occupancy.assign(place=occupancy["part"].map(colours.place))
    rows = rows.sort_values(["start_ns", "place"])
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


def value_strip(
    stretches: pd.DataFrame, column: str, texts: list[str], colour: str
) -> pd.DataFrame:
    """A value of each stretch, as high as its share of the greatest; the texts show on hover."""
    return stretches.assign(
        start=stretches["start_ns"],
        end=stretches["end_ns"],
        colour=colour,
        percent=100 * stretches[column] / (stretches[column].max() or 1),
        when=when(stretches),
        text=texts,
    )


def when(stretches: pd.DataFrame) -> list[str]:
    """From when to when each stretch lasts."""
    return [
        f"{units.position(start, end - start)} to {units.position(end, end - start)}"
        for start, end in zip(stretches["start_ns"], stretches["end_ns"], strict=True)
    ]


def step_marks(steps: pd.DataFrame, since: int, until: int) -> list[Mark]:
    """Where steps begin and end; a step's name at its beginning."""
    names = {max(row.start_ns, since): f"step {row.step:,}" for row in steps.itertuples()}
    edges = {*steps["start_ns"], *steps["end_ns"]}
    inside = sorted({edge for edge in edges if since <= edge <= until} | set(names))
    return [Mark(int(at), names.get(at, ""), at in edges) for at in inside]


def _lane_order(lane: str) -> tuple[bool, bool, str, int]:
    """Where a lane stands: the gaps, the streams by number, and below them the host's threads."""
    what, _, number = lane.rpartition(" ")
    return (
        lane != GAPS,
        what == "thread",
        what,
        int(number) if number.isdecimal() else -1,
    )
