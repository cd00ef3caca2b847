"""A chart of the variants: time against memory, coloured by the difference of the output."""

import math
from collections.abc import Callable
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from dashboard.drawing import charts, colours, formatting
from dashboard.sweeps import variant

Pick = Callable[[str], None]

KEY = "sweep-scatter"
PICKED = "run"
HEIGHT = 320
FAR = 20  # if a variant is this many times slower than the fastest, the time axis is logarithmic
LABEL_SHARE = (0.22, 0.07)  # width and height of a label, relative to the chart
RIGHT = 0.8  # points at this share of the width or more have their labels on the left
# Rounding to 8 bits gives a PSNR of 59 dB. 20 dB is an error of a tenth of the range.
NEAR_DB, FAR_DB = 60, 20
NEAR, DISTANT = "#5B8DEF", "#C2334D"
EQUAL, UNKNOWN = colours.RUNS[2], colours.NEUTRAL


def show(frame: pd.DataFrame, at: str | None, pick: Pick) -> None:
    """Draw the chart. A click on a point calls `pick` with its run."""
    drawn = frame[frame["image_ns"].notna() & frame["peak_bytes"].notna()]
    st.subheader("Time against memory", anchor=False)
    if drawn.empty:
        st.caption("No variant has both a time and a memory peak.")
        return
    rows, (time_unit, size_unit) = _rows(drawn, at)
    charts.legend(
        {
            "equal to eager": EQUAL,
            f"near: PSNR of {NEAR_DB} dB or more": NEAR,
            f"far: PSNR of {FAR_DB} dB or less": DISTANT,
            "unknown": UNKNOWN,
        }
    )

    def picked() -> None:
        chosen: Any = st.session_state[KEY]["selection"].get(PICKED, [])
        if chosen:
            pick(str(chosen[0]["run_id"]))

    is_log = rows["x"].max() > FAR * rows["x"].min() > 0
    of = "device" if (drawn["peak_of"] == "device").all() else "host's process"
    points = (
        alt.Chart(rows)
        .mark_point(filled=True, opacity=0.95)
        .encode(
            x=alt.X(
                "x:Q",
                title=f"time per image ({time_unit})",
                scale=alt.Scale(type="log" if is_log else "linear", zero=not is_log),
            ),
            y=alt.Y("y:Q", title=f"peak memory, {of} ({size_unit})", scale=alt.Scale(zero=False)),
            color=alt.Color("colour:N", scale=None),
            shape=alt.Shape(
                "kind:N",
                scale=alt.Scale(domain=["eager", "variant"], range=["diamond", "circle"]),
                legend=None,
            ),
            size=alt.Size("size:Q", scale=None),
            tooltip=charts.tooltips(
                "variant:N", "time:N", "speed:N", "memory:N", ("distance:N", "output"), "run_id:N"
            ),
        )
        .add_params(alt.selection_point(PICKED, fields=["run_id"], nearest=True))
    )
    labels = _labels(rows, is_log)
    ink = colours.quiet_ink()
    text = alt.Chart(labels).encode(x=alt.X("x:Q"), y=alt.Y("y:Q"), text=alt.Text("variant:N"))
    names = [
        text.mark_text(align="left", dx=9, dy=-6, fontSize=11, color=ink).transform_filter(
            "datum.side == 'left'"
        ),
        text.mark_text(align="right", dx=-9, dy=-6, fontSize=11, color=ink).transform_filter(
            "datum.side == 'right'"
        ),
    ]
    st.altair_chart(
        alt.layer(points, *names).properties(height=HEIGHT),
        key=KEY,
        on_select=picked,
        selection_mode=PICKED,
        alt="Time per image of each variant against its peak memory",
    )
    left_out = len(frame) - len(drawn)
    note = "Diamonds are eager."
    if left_out:
        note += f" Not shown: {formatting.counted(left_out, 'variant')} without a time or a peak."
    st.caption(note)


def _rows(drawn: pd.DataFrame, at: str | None) -> tuple[pd.DataFrame, tuple[str, str]]:
    """Return the points, and the units of the axes."""
    factor, time_unit = charts.duration_axis(drawn["image_ns"].max())
    divisor, size_unit = charts.size_axis(drawn["peak_bytes"].max())
    rows = pd.DataFrame(
        {
            "run_id": drawn["run_id"],
            "x": drawn["image_ns"] / factor,
            "y": drawn["peak_bytes"] / divisor,
            "kind": ["eager" if is_base else "variant" for is_base in drawn["is_base"]],
            "size": [260 if run == at else 110 for run in drawn["run_id"]],
            "colour": [_colour(row) for _, row in drawn.iterrows()],
            "variant": drawn["variant"],
            "time": drawn["image_ns"].map(formatting.duration),
            "speed": drawn["speedup"].map(formatting.times),
            "memory": drawn["peak_bytes"].map(formatting.size),
            "distance": [variant.distance(row) for _, row in drawn.iterrows()],
        }
    )
    return rows, (time_unit, size_unit)


def _colour(row: pd.Series) -> str:
    """Return a colour by PSNR, from blue for outputs near that of eager to red for distant ones."""
    if row["max_distance"] == 0:
        return EQUAL
    if formatting.missing(row["psnr_db"]):
        return UNKNOWN
    share = (NEAR_DB - row["psnr_db"]) / (NEAR_DB - FAR_DB)
    return colours.between(NEAR, DISTANT, min(max(share, 0.0), 1.0))


def _labels(rows: pd.DataFrame, is_log: bool) -> pd.DataFrame:
    """Return the points whose labels do not overlap, with the side on which each label starts."""
    across = rows["x"].map(math.log) if is_log else rows["x"]
    placed: list[tuple[float, float]] = []
    kept, sides = [], []
    for x, y in zip(_shares(across), _shares(rows["y"]), strict=True):
        side = "left" if x < RIGHT else "right"
        at = x if side == "left" else x - LABEL_SHARE[0]
        is_free = all(
            abs(at - other_x) > LABEL_SHARE[0] or abs(y - other_y) > LABEL_SHARE[1]
            for other_x, other_y in placed
        )
        if is_free:
            placed.append((at, y))
        kept.append(is_free)
        sides.append(side)
    return rows.assign(side=sides)[kept]


def _shares(values: pd.Series) -> pd.Series:
    """Return each value's position between the minimum and the maximum, 0 to 1."""
    apart = values.max() - values.min()
    return (values - values.min()) / apart if apart else values * 0
