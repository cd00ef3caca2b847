"""A table and charts of the computation, memory traffic and speed of MegEngine operators."""

import math
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import charts, colours, formatting, tables
from dashboard.widgets import menu
from dashboard.widgets.view import View
from ingest.server import Query, Scalar, select

MAX_ROWS = 2_000
BARS = 12
HEIGHT = 420
COLUMNS = {
    "operator": "name, type, device_time_by_end_ns AS device_time_ns, "
    "device_time_by_kern_ns AS device_wait_ns, host_time_by_end_ns AS host_time_ns, "
    "computation_flo, flo_per_s, memory_bytes, bytes_per_s, in_shapes, out_shapes",
    "type": "type, oprs, device_time_ns, host_time_ns, computation_flo, flo_per_s, memory_bytes, "
    "bytes_per_s",
}
RELATIONS = {"operator": "megengine_oprs", "type": "megengine_types"}
LABELS = {
    "device_time_ns": "device, start to end",
    "device_wait_ns": "of that waiting",
    "host_time_ns": "host, start to end",
    "oprs": "operators",
    "in_shapes": "inputs",
    "out_shapes": "outputs",
}
HELP = (
    "The sum over all comp nodes of the rank, as in `ingest profile-analyze`: the time of an "
    "operator from its start to its end, including the time until its first kernel. FLOPS and "
    "bandwidth are per second of this time. The device time in the ranking above is without "
    "waiting."
)
SCATTER_HELP = (
    "Points on a dashed line have the same number of operations per byte. If that number is low, "
    "memory limits the operator, so compare its bandwidth. If it is high, compare its FLOPS. A "
    "larger point means more time on the device."
)
SIDES = ("device", "host")


def show(view: View) -> None:
    """Draw the section. Draw nothing if the run is not a MegEngine profile."""
    where: dict[str, Scalar] = {"run_id": view.run}
    if view.device:
        where["rank"] = view.device.rank
    if data.rows(select("opr_key", "megengine_oprs", where, limit=1)).empty:
        return
    head = menu.heading_line("Computation and memory", help=HELP)
    by = head.segmented_control(
        "By",
        list(RELATIONS),
        default="operator",
        required=True,
        key="opr_by",
        bind="query-params",
        label_visibility="collapsed",
    )
    queries = {by: _query(by, where) for by in RELATIONS}
    with head:
        menu.show({"rows": queries[str(by)]}, "computation", view.files)
    _table(data.rows(queries[str(by)]), str(by), view)
    left, right = st.container(key="beside-scatter").columns(2, gap="medium")
    with left:
        _scatter(data.rows(queries["operator"]).head(MAX_ROWS))
    with right:
        _sides(data.rows(queries["type"]))


def _query(by: str, where: dict[str, Scalar]) -> Query:
    order = "operator_ordinal" if by == "operator" else "type"
    return select(
        COLUMNS[by],
        RELATIONS[by],
        where,
        order_by=f"device_time_ns DESC NULLS LAST, host_time_ns DESC NULLS LAST, {order}",
    )


def _table(frame: pd.DataFrame, by: str, view: View) -> None:
    tables.show(
        frame.head(MAX_ROWS),
        RELATIONS[by],
        key=f"computation-{view.key}-{by}",
        labels=LABELS,
        bars=["device_time_ns", "host_time_ns"],
        hidden=[column for column in ("out_shapes",) if column in frame],  # leaves width for names
    )
    if len(frame) > MAX_ROWS:
        st.caption(f"The first {MAX_ROWS:,} of {len(frame):,} rows. The menu has all of them.")


def _scatter(frame: pd.DataFrame) -> None:
    """Draw FLOPS against bandwidth, on logarithmic axes, with lines of equal intensity."""
    st.subheader("FLOPS against bandwidth", anchor=False, help=SCATTER_HELP)
    drawn = frame[(frame["flo_per_s"] > 0) & (frame["bytes_per_s"] > 0)]
    left_out = len(frame) - len(drawn)
    if drawn.empty:
        st.caption("No operator has operations, bytes and device time.")
        return
    rows = pd.DataFrame(
        {
            "x": drawn["bytes_per_s"],
            "y": drawn["flo_per_s"],
            "ms": drawn["device_time_ns"] / 1e6,
            "name": [
                formatting.clipped(name or "", charts.TOOLTIP_WIDTH) for name in drawn["name"]
            ],
            "type": drawn["type"],
            "FLOPS": drawn["flo_per_s"].map(formatting.operations_per_second),
            "bandwidth": drawn["bytes_per_s"].map(formatting.size_per_second),
            "intensity": [
                f"{formatting.three_digits(row.flo_per_s / row.bytes_per_s)} FLO per byte"
                for row in drawn.itertuples()
            ],
            "time": drawn["device_time_ns"].map(formatting.duration),
        }
    )
    st.altair_chart(_drawn(rows), alt="FLOPS of each operator against its bandwidth")
    if left_out:
        operators = formatting.counted(left_out, "operator")
        st.caption(f"Not shown: {operators} without operations, bytes or device time.")


def _drawn(rows: pd.DataFrame) -> Any:
    types = list(rows.groupby("type")["ms"].sum().sort_values(ascending=False).index)
    shown, others = types[: len(colours.RUNS)], types[len(colours.RUNS) :]
    rows = rows.assign(kind=rows["type"].where(~rows["type"].isin(others), "other types"))
    domain = [*shown, "other types"] if others else shown
    palette = [*colours.RUNS[: len(shown)], colours.OTHERS][: len(domain)]
    charts.legend(dict(zip(domain, palette, strict=True)))
    x = _scale(rows["x"])
    y = _scale(rows["y"])
    lines, labels = _intensities(x, y)
    points = (
        alt.Chart(rows)
        .mark_circle(opacity=0.85)
        .encode(
            x=alt.X("x:Q", scale=alt.Scale(type="log", domain=x), title="bandwidth (bytes/s)",
                    axis=alt.Axis(format="~s", grid=False)),
            y=alt.Y("y:Q", scale=alt.Scale(type="log", domain=y), title="FLOPS",
                    axis=alt.Axis(format="~s", grid=False)),
            size=alt.Size("ms:Q", scale=alt.Scale(range=[40, 600]), legend=None),
            color=alt.Color(
                "kind:N", scale=alt.Scale(domain=domain, range=palette), legend=None
            ),
            tooltip=charts.tooltips(
                "name:N", "type:N", "FLOPS:N", "bandwidth:N", "intensity:N", "time:N"
            ),
        )
    )  # fmt: skip
    ink = colours.quiet_ink()
    iso = (
        alt.Chart(lines)
        .mark_line(strokeDash=[4, 4], strokeWidth=1, color=ink, opacity=0.6)
        .encode(x=alt.X("x:Q"), y=alt.Y("y:Q"), detail=alt.Detail("intensity:N"))
    )
    text = (
        alt.Chart(labels)
        .mark_text(align="right", dx=-4, dy=-6, color=ink, fontSize=11)
        .encode(x=alt.X("x:Q"), y=alt.Y("y:Q"), text=alt.Text("text:N"))
    )
    return alt.layer(iso, text, points).properties(height=HEIGHT)


def _scale(values: pd.Series) -> list[float]:
    """Return the powers of ten below the smallest value and above the largest."""
    least, most = math.floor(math.log10(values.min())), math.ceil(math.log10(values.max()))
    return [10.0**least, 10.0 ** max(most, least + 1)]


def _intensities(x: list[float], y: list[float]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return lines at each power of ten of operations per byte, cut at the axes, and labels."""
    first = math.ceil(math.log10(y[0] / x[1]))
    last = math.floor(math.log10(y[1] / x[0]))
    lines, labels = [], []
    for power in range(first, last + 1):
        intensity = 10.0**power
        since, until = max(x[0], y[0] / intensity), min(x[1], y[1] / intensity)
        if until <= since * 1.01:
            continue
        lines += [(intensity, at, at * intensity) for at in (since, until)]
        labels.append((until, until * intensity, f"{_plain(power)} FLO/byte"))
    return (
        pd.DataFrame(lines, columns=["intensity", "x", "y"]),
        pd.DataFrame(labels, columns=["x", "y", "text"]),
    )


def _plain(power: int) -> str:
    """Return a power of ten as text, without an exponent."""
    return f"{10**power:,}" if power >= 0 else f"{10.0**power:.{-power}f}"


def _sides(frame: pd.DataFrame) -> None:
    """Draw the time of each type on the device and on the host."""
    st.subheader("Host against device", anchor=False)
    first = frame.head(BARS)
    bars = pd.concat(
        pd.DataFrame(
            {
                "name": first["type"].fillna("(unknown type)"),
                "run_id": side,
                "ns": first[f"{side}_time_ns"],
                "calls": first["oprs"],
            }
        )
        for side in SIDES
    ).dropna(subset=["ns"])
    charts.grouped_bars(
        bars, [side for side in SIDES if side in set(bars["run_id"])], "time by type"
    )
    if len(frame) > BARS:
        st.caption(f"The first {BARS} of {len(frame)} types.")
