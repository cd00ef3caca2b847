"""The chart of a run's steps. A click picks a step, and a drag picks a range."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from dashboard.drawing import charts, colours, component, formatting

HERE = Path(__file__).parent
TALL, LOW = 120, 44  # pixels
FEW_STEPS, FEW_PIXELS, MIN_PIXELS = 10, 90, 240  # a low chart of few steps has this width per step
TICKS = 4


def show(
    walls: Mapping[int, int],
    frame: pd.DataFrame,
    is_picked: Callable[[int], bool],
    on_pick: Callable[[int, int], None],
    *,
    marks: Mapping[int, int],
    is_tall: bool,
    key: str,
) -> None:
    """Draw a bar for each step, as high as its wall time. Steps that are not picked are faint.

    `walls` has the wall time of each step, ns. `frame` has a row for each part of these steps:
    step, part, is_idle, ns. `marks` has the length of steps on the host, ns, which is marked on
    their bars. `on_pick` is called with the first and the last step that the user picks. A tall
    chart has an axis. A low chart of few steps is only as wide as it needs to be. If a step dwarfs
    the others, the axis is logarithmic; each bar is then divided in proportion to its parts.
    """
    highest = max(1, *walls.values(), *marks.values())
    lowest = _lowest(walls) if charts.is_dwarfed(walls.values()) else None
    order_of = {part: index for index, part in enumerate(colours.order(set(frame["part"])))}
    heights = _without_overlap(frame)
    heights = heights.assign(order=heights["part"].map(order_of)).sort_values(["step", "order"])
    parts_of = {step: list(parts.itertuples()) for step, parts in heights.groupby("step")}
    steps = [
        {
            "number": step,
            "name": f"{step:,}",
            "text": _text(step, wall_ns, marks.get(step)),
            "mark": _height(marks[step], highest, lowest) if step in marks else None,
            "height": _height(wall_ns, highest, lowest),
            "isPicked": is_picked(step),
            "parts": [_part(part, wall_ns) for part in parts_of.get(step, [])],
        }
        for step, wall_ns in walls.items()
    ]
    is_narrow = not is_tall and len(steps) <= FEW_STEPS
    component.load(HERE, "steps", "steps").draw(
        key,
        data={
            "steps": steps,
            "height": TALL if is_tall else LOW,
            "width": f"{max(MIN_PIXELS, FEW_PIXELS * len(steps))}px" if is_narrow else None,
            "ticks": _ticks(highest, lowest) if is_tall else [],
        },
        width="content" if is_narrow else "stretch",
        on_picked_change=lambda: on_pick(*component.state(key)["picked"]),
    )


def _lowest(walls: Mapping[int, int]) -> int:
    """Return the start of a logarithmic axis, ns: a power of ten below half of the lowest bar."""
    shortest = min((wall_ns for wall_ns in walls.values() if wall_ns), default=1)
    return int(10 ** max(0, math.floor(math.log10(shortest / 2 or 1))))


def _height(ns: float, highest: int, lowest: int | None) -> float:
    """Return the height of a time in percent of the chart, on a logarithmic axis from `lowest`."""
    if lowest is None:
        return 100 * ns / highest
    return 100 * max(0, math.log(max(ns, 1) / lowest)) / math.log(highest / lowest)


def _text(step: int, wall_ns: int, range_ns: int | None) -> str:
    text = f"Step {step:,}: {formatting.duration(wall_ns)}"
    return text if range_ns is None else f"{text}; on the host: {formatting.duration(range_ns)}"


def _part(part: Any, wall_ns: int) -> dict[str, Any]:
    share = formatting.percent(100 * part.ns / wall_ns) if wall_ns else ""
    of = f"of step {int(part.step):,}'s {formatting.duration(wall_ns)}"
    return {
        "percent": 100 * part.height_ns / wall_ns if wall_ns else 0,
        "colour": colours.of(part.part),
        "text": f"{colours.label(part.part)}: {formatting.duration(part.ns)}, {share} {of}",
    }


def _ticks(highest: int, lowest: int | None) -> list[dict[str, Any]]:
    """Return round values on the axis: from 0, or powers of ten on a logarithmic axis."""
    if lowest is not None:
        decades = math.ceil(math.log10(highest / lowest))
        every = math.ceil(decades / TICKS)
        times = [lowest * 10**decade for decade in range(0, decades + 1, every)]
        return [
            _tick(ns, highest, lowest, *charts.duration_axis(ns)) for ns in times if ns <= highest
        ]
    factor, unit = charts.duration_axis(highest)
    values = charts.ticks(0, highest / factor, TICKS)
    return [_tick(value * factor, highest, None, factor, unit) for value in values]


def _tick(ns: float, highest: int, lowest: int | None, factor: float, unit: str) -> dict[str, Any]:
    return {"height": _height(ns, highest, lowest), "text": charts.tick_text(ns / factor, unit)}


def _without_overlap(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of positive parts with the heights of their bars in ns.

    The overlap is negative. It is subtracted from the work of its step, in proportion to the parts,
    so that a bar is as high as the wall time.
    """
    parts = frame[frame["ns"] > 0]
    is_work = parts["is_idle"].eq(False).fillna(False).astype(bool)
    overlap = frame[frame["ns"] < 0].groupby("step")["ns"].sum()
    work = parts[is_work].groupby("step")["ns"].sum()
    shares = (1 + overlap / work).reindex(work.index).fillna(1)
    heights = parts["ns"].where(~is_work, parts["ns"] * parts["step"].map(shares))
    return parts.assign(height_ns=heights.astype(float))
