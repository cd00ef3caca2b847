"""The chart of a metric over time: a line for each series, and where it changed for good."""

from collections.abc import Callable
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from dashboard.widgets import charts, colours, formatting

PICK = "run"
HEIGHT = 190
FEW = 150  # points that are drawn large
BEFORE, AFTER = 5, 4  # runs whose medians are compared, as view `trend` does
SIDE: dict[str, Any] = {"minExtent": 60, "maxExtent": 60}  # aligns the charts
MOST_SERIES = len(colours.RUNS)
SERIES = "Runs of one model, mode and device; a run that names no model goes by its own name."
CHANGE = (
    "A change point is a run where the median of it and up to four runs after it differs from the "
    "median of up to five runs before it by 5% or more, and by more than these scatter. It takes "
    "three runs before and one after it."
)
LABELS = {"wall": "wall time", "bubble": "bubble (idle)", "peak": "peak memory"}


def label(metric: str) -> str:
    """A metric's name as headings write it."""
    if metric.startswith("bubble_"):
        return colours.label(metric.removeprefix("bubble_"))
    return LABELS.get(metric, metric.replace("_", " "))


def written(value: float | None, unit: str) -> str:
    """A metric with its unit."""
    if value is None or formatting.missing(value):
        return formatting.NONE
    if unit == "ns":
        return formatting.duration(value)
    return formatting.size(value) if unit == "bytes" else formatting.three_digits(value)


def change(percent: float | None) -> str:
    """A change in percent, with its sign."""
    return formatting.change(percent, formatting.percent)


def with_series(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of view `trend` with a column `series`: what of model, mode and device tells."""
    several_devices = frame["device_name"].nunique(dropna=False) > 1
    models = series_of_models(frame)
    parts = [models, frame["device_name"]] if several_devices else [models]
    return frame.assign(series=_joined(*parts))


def series_of_models(frame: pd.DataFrame) -> pd.Series:
    """Model, else name, and mode of each row, whatever its device."""
    return _joined(frame["model"].where(frame["model"].notna(), frame["name"]), frame["mode"])


def _joined(*parts: pd.Series) -> pd.Series:
    """The parts that are known of each row, with commas."""
    texts = [
        ", ".join(str(part) for part in row if not formatting.missing(part))
        for row in zip(*parts, strict=True)
    ]
    return pd.Series(texts, parts[0].index)


def legend(frame: pd.DataFrame) -> None:
    """What the colours mean."""
    charts.legend(_colours(frame))


def _colours(frame: pd.DataFrame) -> dict[str, str]:
    """A colour for each series; where there are too many, one for all with the fewest runs."""
    runs = frame.groupby("series")["run_id"].nunique()
    order = list(runs.sort_values(ascending=False, kind="stable").index)
    few = len(order) <= MOST_SERIES
    named = sorted(order if few else order[: MOST_SERIES - 1])
    chosen = dict(zip(named, colours.RUNS, strict=False))
    return chosen if few else {**chosen, _others(order): colours.OTHERS}


def _others(order: list[str]) -> str:
    return f"{len(order) - MOST_SERIES + 1:,} others"


def draw(
    rows: pd.DataFrame, frame: pd.DataFrame, at: str | None, on_pick: Callable[[str], None]
) -> None:
    """One metric's chart; a click near a point calls `on_pick` with its run.

    `frame` has all metrics' rows: it sets the colours and the axis of time.
    """
    metric, unit = str(rows["metric"].iloc[0]), str(rows["unit"].iloc[0])
    factor, shown_unit = _axis(rows["value"].abs().max(), unit)
    colour_of = _colours(frame)
    colour = alt.Color(
        "colour:N",
        legend=None,
        scale=alt.Scale(domain=list(colour_of), range=list(colour_of.values())),
    )
    since, until = frame["started_at"].min(), frame["started_at"].max()
    margin = max((until - since) * 0.02, pd.Timedelta(minutes=1))
    x = alt.X(
        "at:T",
        title=None,
        axis=alt.Axis(format="", labelOverlap=True),
        scale=alt.Scale(
            type="utc", domain=[_utc(since - margin), _utc(until + margin)], nice=False
        ),
    )
    y = alt.Y(
        "value:Q",
        title=None,
        scale=alt.Scale(domain=_domain(rows["value"] / factor), nice=True),
        axis=alt.Axis(**SIDE, tickCount=5, format=",.4~r"),
    )
    data = _points(rows, factor, unit, colour_of)
    key = f"trend-{metric}"

    def picked() -> None:
        chosen: Any = st.session_state[key]["selection"].get(PICK, [])
        if chosen:
            on_pick(str(chosen[0]["run_id"]))

    size = 60 if len(rows) <= FEW else 18
    points = (
        alt.Chart(data)
        .mark_point(filled=True, size=size, opacity=0.9)
        .encode(
            x=x,
            y=y,
            color=colour,
            tooltip=charts.tooltips(
                ("run_id:N", "run"),
                "series:N",
                "when:N",
                ("written:N", label(metric)),
            ),
        )
        .add_params(alt.selection_point(name=PICK, fields=["run_id"], nearest=True, empty=False))
    )
    lines = (
        alt.Chart(data)
        .mark_line(strokeWidth=1.2, opacity=0.55)
        .encode(x=x, y=y, color=colour, detail=alt.Detail("series:N"))
    )
    ring = (
        alt.Chart(data[data["run_id"] == at])
        .mark_point(size=4 * size + 60, color=charts.ink(), strokeWidth=2)
        .encode(x=x, y=y)
    )
    chart = alt.layer(lines, *_medians(rows, factor, x, y), points, ring).properties(
        height=HEIGHT,
        title=alt.Title(
            f"{label(metric)}{shown_unit and f' ({shown_unit})'}", anchor="start", fontSize=14
        ),
    )
    st.altair_chart(
        chart, key=key, on_select=picked, selection_mode=PICK, alt=f"{label(metric)} of the runs"
    )


def _axis(most: float, unit: str) -> tuple[float, str]:
    if unit == "ns":
        return charts.duration_axis(most)
    return charts.size_axis(most) if unit == "bytes" else (1.0, "")


def _domain(values: pd.Series) -> list[float]:
    """From the lowest to the highest, and at least as wide that noise does not look like change."""
    low, high = float(values.min()), float(values.max())
    margin = max(0.05 * (high - low), 0.05 * max(abs(low), abs(high))) or 1.0
    return [low - margin if low < 0 else max(0.0, low - margin), high + margin]


def _utc(moment: pd.Timestamp) -> str:
    return f"{moment.isoformat()}Z"


def _points(
    rows: pd.DataFrame, factor: float, unit: str, colour_of: dict[str, str]
) -> pd.DataFrame:
    rest = list(colour_of)[-1]
    return pd.DataFrame(
        {
            "run_id": rows["run_id"],
            "series": rows["series"],
            "colour": [name if name in colour_of else rest for name in rows["series"]],
            "at": rows["started_at"].map(_utc),
            "when": rows["started_at"].map(formatting.moment),
            "value": rows["value"] / factor,
            "written": [written(value, unit) for value in rows["value"]],
        }
    )


def _medians(rows: pd.DataFrame, factor: float, x: Any, y: Any) -> list[Any]:
    """At each change point the medians before and from it on, joined, and the change."""
    steps, labels = [], []
    for series, runs in rows.groupby("series", sort=False):
        for place in (number for number, is_one in enumerate(runs["is_change_point"]) if is_one):
            row = runs.iloc[place]
            first = runs["started_at"].iloc[max(0, place - BEFORE)]
            last = runs["started_at"].iloc[min(len(runs) - 1, place + AFTER)]
            corners = [
                (first, row["before_median"]),
                (row["started_at"], row["before_median"]),
                (row["started_at"], row["from_median"]),
                (last, row["from_median"]),
            ]
            steps += [
                {
                    "step": f"{series} {place}",
                    "corner": corner,
                    "at": _utc(at),
                    "value": ns / factor,
                }
                for corner, (at, ns) in enumerate(corners)
            ]
            labels.append(
                {
                    "at": _utc(row["started_at"]),
                    "value": max(row["before_median"], row["from_median"]) / factor,
                    "text": change(row["change_percent"]),
                }
            )
    if not steps:
        return []
    lines = (
        alt.Chart(pd.DataFrame(steps))
        .mark_line(color=charts.ink(), strokeWidth=2)
        .encode(x=x, y=y, detail=alt.Detail("step:N"), order=alt.Order("corner:Q"))
    )
    texts = (
        alt.Chart(pd.DataFrame(labels))
        .mark_text(color=charts.ink(), dy=-9, fontWeight="bold")
        .encode(x=x, y=y, text=alt.Text("text:N"))
    )
    return [lines, texts]
