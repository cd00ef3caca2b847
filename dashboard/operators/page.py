"""Page Operators: where the device's time went, by operator or kernel."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

import ingest
from dashboard import data
from dashboard.operators import detail, host_ranking, side_by_side
from dashboard.query import Query, select
from dashboard.widgets import (
    charts,
    formatting,
    incomplete_runs,
    metrics,
    recompiled,
    run_picker,
    show_sql,
    tables,
)
from dashboard.widgets.run_picker import Device

LEVELS = {
    "op": "outermost operator around the launch",
    "leaf": "innermost operator around the launch",
    "kernel": "name of the kernel",
}
MOST_ROWS = 2_000
BARS = 20
TOP = 3


def page() -> None:
    """The page."""
    st.title("Operators")
    picked: list[str] = st.session_state["runs"]
    if not picked:
        run_picker.question("Where did the device's time go?", picked)
        run_picker.ask_for_runs()
        return
    devices = run_picker.devices_of(picked)
    if not devices:
        run_picker.question("Where did the host's time go?", picked)
        incomplete_runs.warn(picked)
        recompiled.warn(picked)
        incomplete_runs.stop_without_trace(picked)
        st.info(
            f"{incomplete_runs.no_device(picked)} Operators are ranked by the host's own time.",
            icon=":material/memory:",
        )
        host_ranking.show(picked)
        return
    run_picker.question("Where did the device's time go?", picked)
    incomplete_runs.warn(picked)
    recompiled.warn(picked)
    level, device, search = _controls(devices if len(picked) == 1 else [])
    if len(picked) > 1:
        side_by_side.page(picked, level, search)
        return
    _metrics(picked[0], device, level)
    _ranking(picked[0], device, level, search)


def _controls(devices: Sequence[Device]) -> tuple[str, Device | None, str]:
    places = st.columns([3, 2, 3] if len(devices) > 1 else [2, 3], vertical_alignment="bottom")
    with places[0]:
        level = st.segmented_control(
            "Rank by",
            list(LEVELS),
            default="op",
            required=True,
            key="level",
            bind="query-params",
            help="  \n".join(f"**{level}**: {meaning}" for level, meaning in LEVELS.items()),
        )
    with places[1] if len(devices) > 1 else places[0]:
        device = run_picker.pick_device(devices, with_all=True) if devices else None
    with places[-1]:
        search = run_picker.search("filter by name")
    return str(level), device, search


def ranking_query(run: str, device: Device | None, level: str, search: str) -> Query:
    """The ranking of a run at a level: of one device, or of all taken together."""
    where = {"run_id": run, "level": level}
    return select(
        "name, device_ns, calls, percent",
        "ranking" if device else "ranking_over_all",
        {**where, **device.where()} if device else where,
        containing=("name", search),
        order_by="device_ns DESC, name",
    )


def _metrics(run: str, device: Device | None, level: str) -> None:
    """Totals, and the first three of the ranking whatever is searched for."""
    totals = (
        select("*", "device_totals", {"run_id": run, **device.where()})
        if device
        else select("*", "run_overview", {"run_id": run})
    )
    (total,) = data.rows(totals).itertuples()
    ranking = data.rows(ranking_query(run, device, level, ""))
    top = ranking[ranking["name"] != "bubble"].head(TOP)
    with st.container(horizontal=True):
        metrics.times(total, devices=1 if device else total.devices)
        st.metric("Device activities", formatting.count(total.activities))
    names = zip(top["name"], top["device_ns"], top["percent"], strict=True)
    st.markdown(formatting.top_line(names))
    if (top["percent"] > 100).any():
        st.caption("Activities overlap on this device, so that their shares add up to over 100%.")
    if (top["name"] == ingest.names.NO_OP).any():
        st.caption(
            f"**{ingest.names.NO_OP}**: the trace links no operator to these; rank by kernel to "
            "see them."
        )


def _ranking(run: str, device: Device | None, level: str, search: str) -> None:
    query = ranking_query(run, device, level, search)
    frame = data.rows(query)
    if frame.empty:
        st.info("Nothing has that in its name; clear the search.", icon=":material/search_off:")
        return
    left, right = st.columns([2, 3], gap="medium")
    with left:
        bars = select(
            "name, class, device_ns, calls",
            "class_ranking" if device else "class_ranking_over_all",
            {"run_id": run, "level": level, **(device.where() if device else {})},
            containing=("name", search),
            order_by="name_ns DESC, name, class",
            limit=4 * BARS,
        )
        charts.ranking_bars(data.rows(bars), BARS)
        show_sql.show(bars, "chart")
    with right:
        chosen = _table(frame.head(MOST_ROWS), run, device, level, search)
        with st.container(horizontal=True):
            show_sql.show(query, "table")
            tables.downloads(query, f"{run}-{level}-ranking", "ranking")
        if len(frame) > MOST_ROWS:
            st.caption(
                f"The first {MOST_ROWS:,} of {len(frame):,}; downloads and SQL have all of them."
            )
        if chosen is None:
            st.caption("Tick a row to see its kernels, shapes and calls.")
    if chosen is not None:
        detail.show(run, device, level, chosen)


def _table(
    frame: pd.DataFrame, run: str, device: Device | None, level: str, search: str
) -> str | None:
    """The ranking; the name ticked, which the URL carries too."""
    names = list(frame["name"])
    asked = st.query_params.get("name")
    rows = tables.show(
        frame,
        "ranking",
        key=f"ranking-{run}-{level}-{device.label if device else ''}-{search}",
        labels={"name": "kernel" if level == "kernel" else "operator"},
        select="single-row",
        selected=[names.index(asked)] if asked in names else [],
    )
    chosen = names[rows[0]] if rows else None
    run_picker.remember("name", chosen)
    return chosen
