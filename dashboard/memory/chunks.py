"""Memory of a MegEngine graph while its operators run: the amount, and the chunks."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import charts, colours, formatting, tables
from dashboard.widgets import menu
from dashboard.widgets.view import View
from ingest.server import Query, Scalar, select

MAX_PIECES = 2_000
CURVE_HEIGHT, MAP_HEIGHT = 130, 380
KINDS = {
    "persistent": ("persistent, for example weights", colours.OTHERS),
    "chunk": ("planned before execution", colours.OWNERS[0]),
    "variable": ("allocated during execution", colours.OWNERS[1]),
}
HELP = (
    "Each box is a chunk of memory, or a variable outside of chunks. Its width covers the "
    "operators that need it, and its height is its size. Boxes at the same height use the same "
    "addresses. Addresses that are never used are left out."
)
PEAKS = (
    "max(live_bytes) AS peak_bytes, max(persistent_bytes) AS persistent_bytes, "
    "arg_max(name, (live_bytes, -execution_ordinal)) AS name, count(*) AS oprs"
)


def compare(runs: Sequence[str]) -> bool:
    """Show the peaks of several runs. Return False if no run has a MegEngine graph."""
    query = select(
        f"run_id, rank, comp_node, {PEAKS}",
        "megengine_memory_over_order",
        {"run_id": runs},
        group_by="run_id, source_id, rank, comp_node",
        order_by="run_id, rank, comp_node",
    )
    frame = data.rows(query)
    if frame.empty:
        return False
    menu.heading("Memory of MegEngine graphs", {"peaks": query}, "chunk-peaks")
    tables.show(
        frame,
        "megengine_memory_over_order",
        key="chunk-peaks",
        hidden=["rank"] if frame["rank"].nunique() == 1 else [],
        labels={
            "run_id": "run",
            "name": "operator at the peak",
            "oprs": "operators",
            "persistent_bytes": "persistent",
        },
        bars=["peak_bytes"],
    )
    st.caption("Pick one run to see what held its memory.")
    return True


def show(view: View) -> bool:
    """Show the section. Return False if the run has no MegEngine graph."""
    where: dict[str, Scalar] = {"run_id": view.run}
    if view.device:
        where["rank"] = view.device.rank
    nodes = data.rows(
        select(
            f"comp_node, {PEAKS}",
            "megengine_memory_over_order",
            where,
            group_by="comp_node",
            order_by="peak_bytes DESC, comp_node",
        )
    )
    if nodes.empty:
        return False
    nodes = _of_device(nodes, view)
    node = str(nodes["comp_node"].iloc[0])
    if len(nodes) > 1:
        node = str(st.selectbox("Comp node", list(nodes["comp_node"]), key="comp_node"))
    where["comp_node"] = node
    _metrics(nodes[nodes["comp_node"] == node].iloc[0])
    curve, pieces = _curve(where), _pieces(where)
    heading = menu.heading_line("Memory in execution order", help=HELP)
    with heading:
        menu.show({"curve": curve, "pieces": pieces}, "chunks", view.files)
    frame = data.rows(pieces)
    has_both = frame["is_persistent"].nunique() > 1
    whole = not has_both or st.toggle("Include persistent memory", key="persistent")
    _draw(data.rows(curve), frame, whole)
    if len(frame) == MAX_PIECES:
        st.caption(f"The {MAX_PIECES:,} largest boxes are shown.")
    return True


def _of_device(nodes: pd.DataFrame, view: View) -> pd.DataFrame:
    """Return the comp nodes of the picked device, or all of them if none of these has memory."""
    if view.device is None or view.device.is_host:
        return nodes
    query = select("comp_node", "megengine_comp_nodes", view.where())
    found = nodes[nodes["comp_node"].isin(data.rows(query)["comp_node"])]
    return nodes if found.empty else found


def _curve(where: dict[str, Scalar]) -> Query:
    return select(
        "execution_ordinal, name, live_bytes, persistent_bytes",
        "megengine_memory_over_order",
        where,
        order_by="execution_ordinal",
    )


def _pieces(where: dict[str, Scalar]) -> Query:
    return select(
        "name, kind, bytes, address, is_persistent, first_ordinal, last_ordinal, offset_bytes",
        "megengine_memory",
        where,
        order_by="bytes DESC, offset_bytes, first_ordinal",
        limit=MAX_PIECES,
    )


def _metrics(node: Any) -> None:
    """Show the peak, and how much of it is persistent."""
    columns = st.columns(4)
    columns[0].metric("Peak", formatting.size(node.peak_bytes))
    columns[1].metric("Persistent", formatting.size(node.persistent_bytes))
    columns[2].metric("Temporary", formatting.size(node.peak_bytes - node.persistent_bytes))
    columns[3].metric("Operators", formatting.count(node.oprs))
    if not formatting.missing(node["name"]):
        st.caption(f"The peak is at operator **{formatting.literal(str(node['name']))}**.")


def _draw(curve: pd.DataFrame, pieces: pd.DataFrame, whole: bool) -> None:
    """Draw the curve, and below it the pieces, over the same operators."""
    names = dict(zip(curve["execution_ordinal"], curve["name"], strict=True))
    shown = pieces if whole else pieces[~pieces["is_persistent"]]
    kinds = shown["kind"].where(~shown["is_persistent"], "persistent")
    present = [kind for kind in KINDS if kind in set(kinds)]
    charts.legend({KINDS[kind][0]: KINDS[kind][1] for kind in present})
    live = curve["live_bytes"] - (0 if whole else curve["persistent_bytes"])
    size, unit = charts.size_axis(float(live.max()))
    x = alt.X(
        "since:Q",
        title=None,
        scale=alt.Scale(domain=[0, len(curve)], nice=False),
        axis=alt.Axis(labels=False, ticks=False),
    )
    upper = (
        alt.Chart(
            pd.DataFrame(
                {
                    "since": curve["execution_ordinal"],
                    "until": curve["execution_ordinal"] + 1,
                    "from": 0.0,
                    "value": live / size,
                    "operator": curve["name"],
                    "in use": live.map(formatting.size),
                }
            )
        )
        .mark_rect(color=colours.NEUTRAL, opacity=0.55)
        .encode(
            x=x,
            x2=alt.X2("until:Q"),
            y=alt.Y("value:Q", title=f"in use ({unit})", scale=alt.Scale(zero=True)),
            y2=alt.Y2("from:Q"),
            tooltip=charts.tooltips("operator:N", "in use:N"),
        )
        .properties(height=CURVE_HEIGHT)
    )
    lowest = shown["offset_bytes"].min()
    height, unit = charts.size_axis(float((shown["offset_bytes"] + shown["bytes"]).max() - lowest))
    boxes = pd.DataFrame(
        {
            "since": shown["first_ordinal"],
            "until": shown["last_ordinal"] + 1,
            "from": (shown["offset_bytes"] - lowest) / height,
            "to": (shown["offset_bytes"] - lowest + shown["bytes"]) / height,
            "kind": kinds,
            "variable": shown["name"],
            "size": shown["bytes"].map(formatting.size),
            "address": shown["address"].map(formatting.address),
            "from operator": shown["first_ordinal"].map(names),
            "to operator": shown["last_ordinal"].map(names),
        }
    )
    lower = (
        alt.Chart(boxes)
        .mark_rect(stroke=colours.BOX_EDGE, strokeWidth=0.6)
        .encode(
            x=alt.X(
                "since:Q",
                title="operators in execution order",
                scale=alt.Scale(domain=[0, len(curve)], nice=False),
            ),
            x2=alt.X2("until:Q"),
            y=alt.Y("from:Q", title=f"addresses ({unit})"),
            y2=alt.Y2("to:Q"),
            color=alt.Color(
                "kind:N",
                scale=alt.Scale(domain=present, range=[KINDS[kind][1] for kind in present]),
                legend=None,
            ),
            tooltip=charts.tooltips(
                "variable:N", "size:N", "address:N", "from operator:N", "to operator:N"
            ),
        )
        .properties(height=MAP_HEIGHT)
    )
    st.altair_chart(
        alt.vconcat(upper, lower, spacing=8).resolve_scale(color="independent"),
        alt="Memory in use while each operator runs, and the chunks that hold it",
    )
