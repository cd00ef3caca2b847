"""Page Operators: operators and kernels by the time that they take on a device or a host."""

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting, tables
from dashboard.operators import detail, host_ranking, megengine, side_by_side
from dashboard.widgets import incomplete_runs, menu, metrics, step_parts, url
from dashboard.widgets.view import View
from ingest import server
from ingest.server import Section, reports, select

MAX_ROWS = 2_000


def page(view: View) -> None:
    """Draw the page."""
    if view.run and view.device is None:
        incomplete_runs.no_activity(view.run)
        return
    runs = [view.run] if view.run else view.runs
    query = select("run_id", "device_totals", {"run_id": runs}, limit=1)
    if data.rows(query).empty:
        incomplete_runs.stop_without_trace(runs)
        st.info(
            f"{incomplete_runs.no_device(runs)} Operators are ranked by self time on the host.",
            icon=":material/memory:",
        )
        host_ranking.show(runs, view)
        megengine.show(view)
        return
    levels = reports.top.LEVELS
    with view.bar:
        level = st.segmented_control(
            "Rank by",
            list(levels),
            default="op",
            required=True,
            key="level",
            bind="query-params",
            label_visibility="collapsed",
            help="  \n".join(f"**{name}**: {meaning}" for name, meaning in levels.items()),
        )
    if view.run is None:
        side_by_side.page(runs, str(level))
    else:
        _ranking(view, str(level))
        megengine.show(view)


def ranking(view: View, level: str, search: str) -> Section:
    """Return the ranking of the view's steps at a level."""
    steps = view.steps.bounds
    return reports.top.on_device(view.run, view.of_device(), level, steps, search=search)


def _ranking(view: View, level: str) -> None:
    metrics.of_view(view)
    left, right = st.container(key="beside-ranking").columns(2, gap="medium")
    with left:
        search = url.search("filter by name")
        section = ranking(view, level, search)
        frame = data.rows(section.query)
        if frame.empty:
            st.info("No name contains this text. Clear the search.", icon=":material/search_off:")
            return
        names = list(frame["name"])
        name = st.query_params.get("name")
        of = f"the wall time of {view.steps.label}"
        menu.heading(section.title, {"ranking": section.query}, "ranking", files=view.files)
        rows = tables.show(
            frame.head(MAX_ROWS),
            section.view,
            key=f"ranking-{view.key}-{level}-{search}",
            labels=section.labels,
            bars=["percent"],
            select="single-row",
            selected=[names.index(name)] if name in names[:MAX_ROWS] else [],
            rest_px=440,
        )
        st.caption("Tick a row to see its kernels, shapes and calls.")
        _notes(len(frame), set(names), float(frame["percent"].max()), of)
    chosen = names[rows[0]] if rows else None
    url.remember("name", chosen)
    with right:
        if name and name not in names:
            st.info(_missing(view, name, search), icon=":material/search_off:")
        if chosen is not None:
            detail.show(view, level, chosen)
        else:
            step_parts.show(view)


def _missing(view: View, name: str, search: str) -> str:
    """Return the reason why the name in the address is not in the table."""
    short = formatting.literal(formatting.short_name(name))
    if search and search.lower() not in name.lower():
        return f"The filter hides **{short}**. Clear it to see the row."
    return f"**{short}** is not in the table of {view.steps.label}."


def _notes(rows: int, names: set[str], most: float, of: str) -> None:
    """Explain the shares, the cut and the row without an operator."""
    notes = [f"Shares are of {of}."]
    if rows > MAX_ROWS:
        notes.append(f"The first {MAX_ROWS:,} of {rows:,} rows. The menu has all of them.")
    if most > 100:
        notes.append("Activities overlap on this device, so shares add up to more than 100%.")
    if server.names.NO_OP in names:
        no_op = formatting.literal(server.names.NO_OP)
        notes.append(
            f"**{no_op}**: the trace links these to no operator. Rank by kernel to see them."
        )
    st.caption(" ".join(notes))
