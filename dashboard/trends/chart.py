"""The chart of a metric in one series, with its change points."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from dashboard.drawing import charts, colours, component, formatting, tables
from dashboard.trends import scales

HERE = Path(__file__).parent
HEIGHT, SMALL_HEIGHT = 210, 170  # pixels
BEFORE, AFTER = 5, 4  # runs on each side of a change point, as in view `trend`
SERIES = "Runs of one model, mode and device. A run without a model goes by its name."
CHANGE = (
    "At a change point, the median of this run and up to four later runs differs from the median "
    "of up to five earlier runs by 5% or more, and by more than four times their spread. The run "
    "itself is nearer to the later median, and the run before it nearer to the earlier one. This "
    "takes at least three earlier runs and one later run."
)
LABELS = {
    "wall": "wall time",
    "idle": "idle time",
    "peak": "peak memory",
    "mfu": "model FLOP utilisation",
    "bandwidth": "memory bandwidth used",
    "flop_rate": "operations per second",
}


@dataclass(frozen=True)
class ChartStyle:
    """The style of a chart.

    `between` holds the ends of the time axis, or None if the x axis is the run number. `at` is the
    run whose card is open.
    """

    is_log: bool
    between: tuple[pd.Timestamp, pd.Timestamp] | None
    at: str | None
    picked: frozenset[str]
    is_small: bool


def label(metric: str) -> str:
    """Return a metric's name for headings."""
    if metric.startswith("idle_"):
        return colours.label(colours.part_of(metric))
    return LABELS.get(metric, metric.replace("_", " "))


def formatted(value: float | None, unit: str) -> str:
    """Return a metric as text with its unit."""
    if value is None or formatting.missing(value):
        return formatting.NONE
    return formatting.three_digits(value) if unit == "count" else tables.WRITTEN[unit](value)


def change(percent: float | None) -> str:
    """Return a change in percent as text with its sign."""
    return formatting.percent_change(percent)


def draw(
    rows: pd.DataFrame,
    numbers: tuple[int, int],
    style: ChartStyle,
    key: str,
    on_pick: Callable[[str], None],
) -> None:
    """Draw a metric of one series. A click near a point calls `on_pick` with its run.

    `rows` are rows of view `trend`, in order. `numbers` are the first and last run number of the
    series.
    """
    series, metric, unit = (str(rows[column].iloc[0]) for column in ("series", "metric", "unit"))
    if style.between is None:
        x, at = scales.of_numbers(*numbers), rows["run_number"].tolist()
    else:
        x = scales.of_times(*style.between, style.is_small)
        at = [scales.milliseconds(time) for time in rows["started_at"]]
    # A log scale has no values of 0 or less. They interrupt the line.
    values = rows["value"].where(rows["value"] > 0) if style.is_log else rows["value"]
    y = scales.of_values(values, unit, style.is_log, bool(rows["is_change_point"].any()))
    name = formatting.clipped(series, charts.TOOLTIP_WIDTH)
    runs = rows["run_id"].tolist()
    component.load(HERE, "series", "series").draw(
        key,
        data={
            "alt": f"{label(metric)} of the runs of {name}",
            "series": name,
            "title": f"{label(metric)}: {name}",  # of a saved picture
            "file": f"{label(metric)} of {formatting.clipped(series, 60)}",
            "height": SMALL_HEIGHT if style.is_small else HEIGHT,
            "isSmall": style.is_small,
            "colours": {"run": colours.RUNS[0], "picked": colours.RUNS[1]},
            "x": x.sent(),
            "y": y.sent(),
            "runs": runs,
            "at": at,
            "values": [None if formatting.missing(value) else value for value in values],
            "picked": [index for index, run in enumerate(runs) if run in style.picked],
            "opened": runs.index(style.at) if style.at in runs else None,
            "changes": _changes(rows, at, style.is_log),
            "details": {
                "run number": rows["run_number"].map(formatting.count).tolist(),
                "when": rows["started_at"].map(formatting.moment).tolist(),
                label(metric): [formatted(value, unit) for value in rows["value"]],
            },
        },
        on_picked_change=lambda: on_pick(str(component.state(key)["picked"])),
    )


def _changes(rows: pd.DataFrame, at: list[float], is_log: bool) -> list[dict[str, Any]]:
    """Return the medians before and after each change point, as a line with one step."""
    changes = []
    for index in (number for number, is_one in enumerate(rows["is_change_point"]) if is_one):
        row = rows.iloc[index]
        before, after = row["before_median"], row["from_median"]
        if is_log and min(before, after) <= 0:
            continue
        first, last = at[max(0, index - BEFORE)], at[min(len(rows) - 1, index + AFTER)]
        changes.append(
            {
                "line": [(first, before), (at[index], before), (at[index], after), (last, after)],
                "text": change(row["change_percent"]) if before else "from 0",
            }
        )
    return changes
