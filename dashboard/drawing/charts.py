"""Shared parts of charts: axes, legends and tooltips; and bar charts of several runs."""

import html
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from dashboard.drawing import colours, formatting
from ingest.server import units

PICK = "pick"  # the name of the selection in charts
DWARFS = 10  # a value of this many times the median makes an axis logarithmic
AXIS_HEIGHT = 80  # pixels for the time axis and the margins of a bar chart
TOOLTIP_WIDTH = 300  # characters
LABEL_WIDTH = 40
LABEL_PIXELS = 230
SWATCH = "display:inline-block;width:.75em;height:.75em;margin-right:.4em;border-radius:2px;"


@alt.theme.register("tracehouse", enable=True)
def theme() -> alt.theme.ThemeConfig:
    """Return the theme of Altair charts: few ticks and readable labels, otherwise Streamlit's."""
    ink = colours.quiet_ink()
    return {
        "config": {
            "axis": {"labelColor": ink, "titleColor": ink},
            "axisQuantitative": {"tickCount": 6},
            "axisTemporal": {"tickCount": 6},
        }
    }


def legend(colour_of: Mapping[str, str]) -> None:
    """Show a legend, as a line of labels that wraps on a narrow page."""
    items = "".join(
        f'<span style="white-space:nowrap"><i style="{SWATCH}background:{colour}"></i>'
        f"{html.escape(label)}</span>"
        for label, colour in colour_of.items()
    )
    st.html(
        '<div style="display:flex;flex-wrap:wrap;gap:0 1rem;font-size:0.875rem">' + items + "</div>"
    )


def legend_of(parts: set[str]) -> None:
    """Show the legend for parts of time, in stacking order."""
    legend({colours.label(part): colours.of(part) for part in colours.order(parts)})


def is_dwarfed(values: Iterable[float]) -> bool:
    """Return whether a value is so high that a linear axis would not show most of the others."""
    known = sorted(value for value in values if value > 0)
    return len(known) > 1 and known[-1] >= DWARFS * known[(len(known) - 1) // 2]


def duration_axis(longest_ns: float) -> tuple[float, str]:
    """Return the divisor and unit of an axis for durations up to the longest."""
    unit = next((unit for unit in ("s", "ms") if longest_ns >= units.TIMES[unit]), "µs")
    return units.TIMES[unit], unit


def ticks(least: float, most: float, count: int) -> list[float]:
    """Return about `count` round values from the least to the most."""
    if most <= least:
        return [least]
    apart = (most - least) / count
    power = 10 ** math.floor(math.log10(apart))
    step = next(size * power for size in (1, 2, 5, 10) if size * power >= apart)
    return [
        index * step for index in range(math.ceil(least / step), math.floor(most / step + 1e-9) + 1)
    ]


def tick_text(value: float, unit: str = "") -> str:
    """Return the text of a tick."""
    return f"{value:,.10g} {unit}".strip() if value else "0"


def size_axis(most: float) -> tuple[float, str]:
    """Return the divisor and unit of an axis for sizes up to the largest, in bytes."""
    unit = next(
        (unit for unit in ("GiB", "MiB", "KiB") if most >= units.FULL * units.SIZES[unit]), "B"
    )
    return units.SIZES[unit], "bytes" if unit == "B" else unit


def operations_axis(most: float) -> tuple[float, str]:
    """Return the divisor and unit of an axis for rates up to the largest, in TFLOP/s."""
    units_by_size = {"PFLOPS": 1e3, "TFLOPS": 1.0, "GFLOPS": 1e-3}
    unit = next((unit for unit, size in units_by_size.items() if most >= size), "MFLOPS")
    return units_by_size.get(unit, 1e-6), unit


def tooltips(*fields: str | tuple[str, str]) -> list[alt.Tooltip]:
    """Return the fields of a tooltip. In a pair, the second item is the title.

    Here and elsewhere, charts pass objects such as `alt.X2("to:Q")` instead of plain strings,
    because Altair takes 5 ms to find the class of a string.
    """
    return [
        alt.Tooltip(field) if isinstance(field, str) else alt.Tooltip(field[0], title=field[1])
        for field in fields
    ]


def names_axis(order: list[str]) -> Any:
    """Return the axis of short names, in this order from the top."""
    return alt.Y("short:N", sort=order, title=None, axis=alt.Axis(labelLimit=LABEL_PIXELS))


def grouped_bars(
    frame: pd.DataFrame,
    runs: list[str],
    metric: str,
    on_pick: Callable[[str, str], None] | None = None,
) -> None:
    """Draw a metric of the same names in several runs. Columns: name, run_id, ns, calls.

    `on_pick` is called with the name and the run of the bar that the user clicks.
    """
    key = f"bars-{metric}"

    def picked() -> None:
        chosen: Any = st.session_state[key]["selection"].get(PICK, [])
        if on_pick and chosen:
            on_pick(str(chosen[0]["full_name"]), str(chosen[0]["run"]))

    names = list(dict.fromkeys(frame["name"]))
    short = formatting.short_names(names, LABEL_WIDTH)
    factor, unit = duration_axis(frame["ns"].max())
    data = pd.DataFrame(
        {
            "short": frame["name"].map(short),
            "full_name": frame["name"],
            "name": [formatting.clipped(name, TOOLTIP_WIDTH) for name in frame["name"]],
            "run": frame["run_id"],
            "value": frame["ns"] / factor,
            "time": frame["ns"].map(formatting.duration),
            "calls": frame["calls"].map(formatting.count),
        }
    )
    chart = (
        alt.Chart(data)
        .mark_bar()
        .encode(
            x=alt.X("value:Q", title=f"{metric} ({unit})"),
            y=names_axis([short[name] for name in names]),
            yOffset=alt.YOffset("run:N", sort=runs),
            color=alt.Color(
                "run:N",
                sort=runs,
                scale=alt.Scale(domain=runs, range=list(colours.RUNS[: len(runs)])),
                legend=None,
            ),
            tooltip=tooltips("name:N", "run:N", "time:N", "calls:N"),
        )
        .properties(height=(8 * len(runs) + 10) * len(names) + AXIS_HEIGHT)
    )
    legend(dict(zip(runs, colours.RUNS, strict=False)))
    alt_text = f"The top operators of each run, by {metric}"
    if on_pick is None:
        st.altair_chart(chart, alt=alt_text)
        return
    chart = chart.add_params(alt.selection_point(PICK, fields=["full_name", "run"], toggle=False))
    st.altair_chart(chart, alt=alt_text, key=key, on_select=picked, selection_mode=PICK)
    st.caption("Click a bar to open its run.")
