"""What held the memory at the chosen moment: owners, allocations, stacks and segments."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

import ingest
from dashboard import data
from dashboard.drawing import formatting, tables
from dashboard.memory import allocations, chosen_moment, segments, stack_frames
from dashboard.memory.chosen_moment import Moment
from dashboard.widgets import menu, url
from ingest import server
from ingest.server import DeviceMemory, Query, reports, select

MAX_OWNERS = 1_000
MAX_ALLOCATIONS = 200
EXPLAINED = {
    server.names.BEFORE_TRACE: "allocated before the recording and freed during it.",
    server.names.NOT_FREED: "allocated before the recording and not freed during it.",
    server.names.NO_STACK: "no stack was recorded. Libraries may allocate without one.",
    server.names.NO_OPERATOR: "allocated outside of any operator.",
    server.names.NO_MODULE: "allocated outside of any nn.Module.",
}


def show(device: DeviceMemory, level: str | None, moment: Moment) -> None:
    """Show the memory at the moment: its amount, its owners at a level, and the segments.

    Without a level, show no owners.
    """
    when = chosen_moment.name(device, moment)
    heading = menu.heading_line(f"What held the memory {when}")
    if device.has_history:
        chosen_moment.buttons(device, moment)
    st.markdown(_metrics(device, moment))
    if level is None:
        if device.origin != "snapshot":
            st.caption("Unknown, because allocations cannot be tracked.")
    elif level == allocations.LEVEL:
        _largest(device, moment)
    else:
        _owners(device, level, moment, heading)
    segments.show(device, moment)


def _metrics(device: DeviceMemory, moment: Moment) -> str:
    text = f"**{formatting.size(moment.used_bytes)}** in use"
    if moment.reserved_bytes is None:
        return text
    text += f" of **{formatting.size(moment.reserved_bytes)}** reserved"
    if not device.has_history:  # the metrics above show what is unused
        return f"{text}."
    free = max(moment.reserved_bytes - moment.used_bytes, 0)
    return f"{text}, **{formatting.size(free)}** unused."


@st.fragment
def _owners(device: DeviceMemory, level: str, moment: Moment, heading: Any) -> None:
    """Show the largest owners, the selected owner's allocations, and the selected one's stack."""
    when = chosen_moment.name(device, moment)
    section = reports.memory.owners(device, moment.ordinal, level, when, MAX_OWNERS)
    frame = data.rows(section.query)
    if frame.empty:
        st.caption("Nothing was allocated.")
        return
    names = list(frame["name"])
    selected = st.query_params.get("owner")
    with heading:
        menu.show({"owners": section.query}, f"{device.run_id}-memory-by-{level}")
    left, right = st.container(key="beside-owners").columns([5, 6], gap="medium")
    with left:
        rows = tables.show(
            frame,
            section.view,
            key=f"owners-{device.key}-{level}-{moment.ordinal}",
            hidden=["level", "is_known", "stack_id"],
            labels=section.labels,
            select="single-row" if device.allocations else None,
            selected=[names.index(selected)] if selected in names else [],
        )
        for name in names:
            if name in EXPLAINED:
                st.caption(f"**{name}**: {EXPLAINED[name]}")
    chosen = names[rows[0]] if rows else None
    url.remember("owner", chosen)
    with right:
        if chosen is not None:
            stack = _allocations(device, level, chosen, moment)
            if stack is not None:
                stack_frames.show(device.run_id, stack)
        elif device.allocations:
            st.caption("Click a row to see its allocations and their stacks.")


@st.fragment
def _largest(device: DeviceMemory, moment: Moment) -> None:
    """Show the largest allocations of all owners, and the selected one's stack."""
    query = select(
        f"bytes, user_frame, {_columns(device)}",
        "memory_allocations_at('moment')",
        given=device.at(moment.ordinal),
        order_by="bytes DESC, allocation_id",
        limit=MAX_ALLOCATIONS,
    )
    stack = _table(device, query, "", moment)
    if stack is not None:
        stack_frames.show(device.run_id, stack)


def _columns(device: DeviceMemory) -> str:
    """Return the columns of a table of allocations, after the size."""
    return (
        f"alloc_ns - {ingest.literal(device.first_ns)} AS after_ns, dur_ns, state, step, op, "
        "module, category, alloc_ordinal, free_ordinal, address, allocation_id, stack_id"
    )


def _allocations(device: DeviceMemory, level: str, owner: str, moment: Moment) -> int | None:
    """Show the largest allocations of an owner. Return the stack of the selected one."""
    where = {**device.where(), "level": level, "name": owner}
    owned = select("allocation_id", "memory_owners", where)
    query = select(
        f"bytes, {_columns(device)}",
        "memory_allocations_at('moment') SEMI JOIN owned USING (allocation_id)",
        given={**device.at(moment.ordinal), "owned": owned},
        order_by="bytes DESC, allocation_id",
        limit=MAX_ALLOCATIONS,
    )
    heading = formatting.literal(formatting.clipped(owner, 100))
    st.markdown(f"**Allocations of {heading}**")
    return _table(device, query, f"-{level}-{owner}", moment, hidden=[level])


def _table(
    device: DeviceMemory, query: Query, key: str, moment: Moment, hidden: Sequence[str] = ()
) -> int | None:
    """Show a table of allocations. Return the stack of the selected one."""
    frame = data.rows(query)
    if frame.empty:
        st.caption(
            "The single allocations are unknown: they existed before the recording and were not "
            "freed during it."
        )
        return None
    shown = frame.rename(columns={"dur_ns": "lived"}).assign(
        lived=[allocations.life(row) for row in frame.itertuples()],
        address=[formatting.address(value) for value in frame["address"]],
    )
    empty = [name for name in shown if shown[name].map(formatting.missing).all()]
    same = [name for name in hidden if name in shown]
    if (shown["state"] == "allocated").all():
        same.append("state")
    ids = list(frame["allocation_id"])
    wanted = st.query_params.get("allocation")
    selected = [row for row, allocation in enumerate(ids) if str(allocation) == wanted]
    rows = tables.show(
        shown,
        "memory_allocations",
        key=f"allocations-{device.key}{key}-{moment.ordinal}",
        hidden=[*dict.fromkeys([*empty, *same, "stack_id", "allocation_id"])],
        labels={
            "user_frame": "line of code",
            "after_ns": "at",
            "alloc_ordinal": "from action",
            "free_ordinal": "to action",
        },
        select="single-row",
        selected=selected,
    )
    menu.show({"allocations": query}, f"{device.run_id}-allocations")
    if len(frame) == MAX_ALLOCATIONS:
        st.caption(f"The {MAX_ALLOCATIONS} largest allocations are shown.")
    url.remember("allocation", str(ids[rows[0]]) if rows else None)
    if not rows:
        if frame["stack_id"].notna().any():
            st.caption("Click an allocation to see its stack.")
        return None
    stack = frame["stack_id"].iloc[rows[0]]
    if formatting.missing(stack):
        st.caption("No stack was recorded for this allocation.")
        return None
    return int(stack)
