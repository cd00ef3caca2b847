"""The chart of a run's steps. A click picks a step, and a drag picks a range."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from dashboard.drawing import charts, colours, component, formatting

HERE = Path(__file__).parent
TALL, LOW = 120, 44  # pixels
FEW_STEPS, FEW_PIXELS, MIN_PIXELS = 10, 90, 240  # a low chart of few steps has this width per step
TICKS = 4


def show(
    numbers: Sequence[int],
    frame: pd.DataFrame,
    is_picked: Callable[[int], bool],
    on_pick: Callable[[int, int], None],
    *,
    marks: Mapping[int, int],
    is_tall: bool,
    key: str,
) -> None:
    """Draw a bar for each step, as high as its wall time. Steps that are not picked are faint.

    `frame` has a row for each part of the steps `numbers`: step, part, is_idle, ns. A step without
    a row takes no time. `marks` has the length of steps on the host, ns, which is marked on their
    bars. `on_pick` is called with the first and the last step that the user picks. A tall chart has
    an axis. A low chart of few steps is only as wide as it needs to be.
    """
    walls = frame.groupby("step")["ns"].sum().reindex(numbers, fill_value=0)
    highest = max(1, int(walls.max()), *marks.values())
    order_of = {part: index for index, part in enumerate(colours.order(set(frame["part"])))}
    heights = _without_overlap(frame)
    heights = heights.assign(order=heights["part"].map(order_of)).sort_values(["step", "order"])
    parts_of = {step: list(parts.itertuples()) for step, parts in heights.groupby("step")}
    steps = [
        {
            "number": step,
            "name": f"{step:,}",
            "text": _text(step, walls[step], marks.get(step)),
            "mark": marks.get(step),
            "isPicked": is_picked(step),
            "parts": [_part(part, walls[step]) for part in parts_of.get(step, [])],
        }
        for step in numbers
    ]
    is_narrow = not is_tall and len(steps) <= FEW_STEPS
    component.load(HERE, "steps", "steps").draw(
        key,
        data={
            "steps": steps,
            "highest": highest,
            "height": TALL if is_tall else LOW,
            "width": f"{max(MIN_PIXELS, FEW_PIXELS * len(steps))}px" if is_narrow else None,
            "ticks": _ticks(highest) if is_tall else [],
        },
        width="content" if is_narrow else "stretch",
        on_picked_change=lambda: on_pick(*component.state(key)["picked"]),
    )


def _text(step: int, wall_ns: int, range_ns: int | None) -> str:
    text = f"Step {step:,}: {formatting.duration(wall_ns)}"
    return text if range_ns is None else f"{text}; on the host: {formatting.duration(range_ns)}"


def _part(part: Any, wall_ns: int) -> dict[str, Any]:
    share = formatting.percent(100 * part.ns / wall_ns) if wall_ns else ""
    of = f"of step {int(part.step):,}'s {formatting.duration(wall_ns)}"
    return {
        "height": part.height_ns,
        "colour": colours.of(part.part),
        "text": f"{colours.label(part.part)}: {formatting.duration(part.ns)}, {share} {of}",
    }


def _ticks(highest_ns: int) -> list[dict[str, Any]]:
    """Return round values on the axis, from 0."""
    factor, unit = charts.duration_axis(highest_ns)
    return [
        {"height": value * factor, "text": f"{value:,.10g} {unit}" if value else "0"}
        for value in charts.ticks(0, highest_ns / factor, TICKS)
    ]


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
