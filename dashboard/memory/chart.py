"""The chart of a memory curve: stacked bands, the reserved memory, and marks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from dashboard.drawing import charts, colours, formatting
from dashboard.memory import curve_marks, single_bands
from dashboard.memory.chosen_moment import Moment
from dashboard.memory.single_bands import Singles
from dashboard.memory.stretch import Stretch
from ingest.server import DeviceMemory

BRUSH = "stretch"
MOMENT = "moment"
POINTED = "pointed"
HEIGHT = 340
LABEL_HEIGHT = 0.06  # the height of a line of labels above the curve, relative to the highest value
NAME_WIDTH = 70  # characters of a name in legend and tooltip


@dataclass(frozen=True)
class Bands:
    """The bands of a curve: bytes of each band at each moment, by `name`.

    Names that are not in `colour_of` share the last band, with the colour `rest`. `legend` maps
    labels to colours; by default it lists the bands. `singles` are drawn over the bands.
    """

    rows: pd.DataFrame
    colour_of: dict[str, str]
    rest: str
    legend: dict[str, str] | None = None
    singles: Singles | None = None


def draw(
    device: DeviceMemory,
    stretch: Stretch,
    curve: pd.DataFrame,
    bands: Bands,
    marks: pd.DataFrame,
    moment: Moment,
    key: str,
    on_zoom: Callable[[int, int], None],
    on_pick: Callable[[int], None],
) -> None:
    """Draw the chart and its legend.

    A drag calls `on_zoom` with two positions. A click calls `on_pick` with an ordinal.
    """
    factor, title = stretch.scale()
    moments, names = _wide(curve, bands.rows, stretch, list(bands.colour_of))
    size, unit = charts.size_axis(_highest(moments))
    palette = [*bands.colour_of.values(), bands.rest]
    shown = _drawn(moments, names, stretch, factor, size)

    def selected() -> None:
        chosen: Any = st.session_state[key]["selection"]
        if interval := chosen.get(BRUSH, {}).get("position"):
            begin, end = sorted(int(edge * factor) for edge in interval)
            on_zoom(begin, end)
        elif picked := chosen.get(MOMENT):
            on_pick(int(picked[0]["ordinal"]))

    reserved = device.peak_reserved_bytes is not None
    meanings = dict(bands.legend or zip(names.values(), palette, strict=True))
    if reserved:
        meanings["reserved by the allocator"] = colours.ink()
    charts.legend(meanings)
    curve_marks.draw_lanes(marks, stretch, f"marks-{device.key}")
    x = alt.X(
        "position:Q", scale=stretch.shown(factor), title=title, axis=alt.Axis(labelBound=True)
    )
    headroom = 1 + LABEL_HEIGHT * (1 + curve_marks.lines(device, marks, moment))
    scale = alt.Scale(domain=[0, headroom * _highest(moments) / size], nice=False)
    lines = [_reserved(curve, stretch, factor, size, x)] if reserved else []
    lines += curve_marks.points(device, stretch, factor, size, marks, moment, moments, x)
    layers = [*lines, _pointed(shown, names, x, reserved)]
    if bands.singles is not None:
        # Draw the cells over the stripes, which show tooltips, but below the lines.
        positions = moments[["ordinal", "position", "next"]]
        singles = single_bands.layer(bands.singles, positions, factor, size, x)
        layers = [layers[-1], singles, *lines]
    layers.insert(0, _areas(shown, list(names), palette, x, scale, unit))
    st.altair_chart(
        alt.layer(*layers).properties(height=HEIGHT),
        key=key,
        on_select=selected,
        selection_mode=[BRUSH, MOMENT],
        alt="Memory in use, by what held it, and memory reserved",
    )


def _wide(
    curve: pd.DataFrame, bands: pd.DataFrame, stretch: Stretch, order: list[str]
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return bytes with a row per moment and a column per band, and the labels of the columns."""
    short = formatting.short_paths(order, NAME_WIDTH)
    columns = {name: f"b{position}" for position, name in enumerate(order)}
    rest = f"b{len(order)}"
    labels = {columns[name]: short[name] for name in order}
    labels[rest] = "all others" if order else "in use"
    keys = [columns.get(name, rest) for name in bands["name"]]
    wide = bands.assign(key=keys).pivot(index="ordinal", columns="key", values="bytes")
    wide = wide.reindex(columns=list(labels)).fillna(0).reset_index()
    at = bands.drop_duplicates("ordinal")[["ordinal", "position"]]
    used = curve.drop_duplicates("ordinal")[["ordinal", "used_bytes", "reserved_bytes"]]
    wide = wide.merge(at, on="ordinal").merge(used, on="ordinal", how="left")
    wide = wide.sort_values("ordinal", ignore_index=True)
    # Vega stacks rows with the same position, so move moments of the same time slightly apart.
    apart = (stretch.until - stretch.since) / 1e6
    wide["position"] += wide.groupby("position").cumcount() * apart
    wide["next"] = wide["position"].shift(-1).fillna(stretch.until)
    return wide, labels


def _highest(moments: pd.DataFrame) -> float:
    return max(1.0, float(moments[["used_bytes", "reserved_bytes"]].max().max()))


def _drawn(
    moments: pd.DataFrame,
    names: dict[str, str],
    stretch: Stretch,
    factor: float,
    size: float,
) -> pd.DataFrame:
    """Return the moments in the units of the axes, with a text for each value."""
    drawn = moments.assign(position=moments["position"] / factor, next=moments["next"] / factor)
    for column in names:
        drawn[f"t{column}"] = moments[column].map(formatting.size)
        drawn[column] = moments[column] / size
    moments_of = zip(moments["position"], moments["ordinal"], strict=True)
    return drawn.assign(
        when=[stretch.name(position, ordinal) for position, ordinal in moments_of],
        used=moments["used_bytes"].map(formatting.size),
        reserved=moments["reserved_bytes"].map(formatting.size),
    ).drop(columns=["used_bytes", "reserved_bytes"])


def _areas(
    shown: pd.DataFrame,
    columns: list[Any],
    palette: list[str],
    x: alt.X,
    scale: alt.Scale,
    unit: str,
) -> Any:
    last = shown.iloc[-1:].assign(position=shown["next"].iloc[-1])  # the curve goes on to the end
    data = pd.concat([shown, last], ignore_index=True)[["position", *columns]]
    side = alt.Axis(**curve_marks.SIDE, labelExpr=f"datum.label + ' {unit}'")
    return (
        alt.Chart(data)
        .transform_fold(columns, as_=["band", "bytes"])
        .mark_area(interpolate="step-after", line=False)
        .encode(
            x=x,
            y=alt.Y("bytes:Q", stack="zero", title=None, scale=scale, axis=side),
            color=alt.Color("band:N", scale=alt.Scale(domain=columns, range=palette), legend=None),
            order=alt.Order("band:N", sort="ascending"),
        )
    )


def _reserved(curve: pd.DataFrame, stretch: Stretch, factor: float, size: float, x: alt.X) -> Any:
    rows = curve.drop_duplicates("ordinal").dropna(subset="reserved_bytes")
    changed = rows["reserved_bytes"] != rows["reserved_bytes"].shift()
    rows = rows[changed]
    data = pd.DataFrame(
        {"position": rows["position"] / factor, "reserved": rows["reserved_bytes"] / size}
    )
    last = data.iloc[-1:].assign(position=stretch.until / factor)
    return (
        alt.Chart(pd.concat([data, last], ignore_index=True))
        .mark_line(interpolate="step-after", color=colours.ink(), strokeWidth=1.5)
        .encode(x=x, y=alt.Y("reserved:Q"))
    )


def _pointed(shown: pd.DataFrame, names: dict[str, str], x: alt.X, reserved: bool) -> Any:
    """Return a stripe for each moment, with its tooltip. A click selects the moment."""
    tooltip = [alt.Tooltip("when:N", title="at"), alt.Tooltip("used:N", title="in use")]
    if reserved:
        tooltip.append(alt.Tooltip("reserved:N", title="reserved"))
    if len(names) > 1:
        tooltip += [alt.Tooltip(f"t{column}:N", title=name) for column, name in names.items()]
    over = alt.selection_point(name=POINTED, on="pointerover", clear="pointerout", empty=False)
    texts = [field.shorthand.removesuffix(":N") for field in tooltip]
    return (
        alt.Chart(shown[["position", "next", "ordinal", *texts]])
        .mark_rect(color=colours.ink())
        .encode(
            x=x,
            x2=alt.X2("next:Q"),
            opacity=alt.condition(over, alt.value(0.25), alt.value(0)),
            tooltip=tooltip,
        )
        .add_params(
            over,
            alt.selection_interval(name=BRUSH, encodings=["x"]),
            alt.selection_point(name=MOMENT, fields=["ordinal"]),
        )
    )
