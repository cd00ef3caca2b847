"""Out-of-memory errors of a device, near the top of the page."""

from typing import Any

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.memory import chosen_moment, stack_frames
from dashboard.widgets import menu
from ingest.server import DeviceMemory, reports

MAX_ERRORS = 5
TOP = 5


def show(device: DeviceMemory) -> None:
    """Show the requested and the available memory of each error. Do nothing without errors."""
    if not chosen_moment.out_of_memory(device):
        return  # the report is slow on a long history, even if it is empty
    section = reports.memory.errors(device)
    frame = data.rows(section.query)
    st.subheader(section.title, anchor=False)
    for row in frame.head(MAX_ERRORS).itertuples():
        st.error(_error(row), icon=":material/error:")
    if len(frame) > MAX_ERRORS:
        st.caption(
            f"The first {MAX_ERRORS} of {len(frame):,} errors are shown. The SQL returns all."
        )
    with st.container(horizontal=True, vertical_alignment="center"):
        for number, row in enumerate(frame.head(MAX_ERRORS).itertuples(), 1):
            st.button(
                "Show this moment" + (f" ({number})" if len(frame) > 1 else ""),
                icon=":material/my_location:",
                key=f"oom-{device.key}-{row.ordinal}",
                on_click=chosen_moment.choose,
                args=(int(row.ordinal),),
            )
        menu.show({"errors": section.query}, f"{device.run_id}-out-of-memory")
    stack = frame["stack_id"].iloc[0]
    if not formatting.missing(stack):
        with st.expander("Stack of the allocation that failed" + (" first" * (len(frame) > 1))):
            stack_frames.show(device.run_id, int(stack), key="oom-stack")


def _error(row: Any) -> str:
    """Return the requested and the available memory, and what held the rest, as Markdown."""
    request = f"**{formatting.size(row.requested_bytes)}** were requested"
    if not formatting.missing(row.user_frame):
        request += f" by **{formatting.literal(formatting.clipped(row.user_frame, 120))}**"
    lines = [f"{request}; the device had **{formatting.size(row.device_free_bytes)}** free."]
    if not formatting.missing(row.reserved_bytes):
        free = f"{formatting.size(row.free_bytes)} free"
        if not formatting.missing(row.largest_free_bytes):
            free += f" (largest piece {formatting.size(row.largest_free_bytes)})"
        lines.append(
            f"The allocator had {formatting.size(row.reserved_bytes)} reserved: "
            f"{formatting.size(row.active_bytes)} in use and {free}."
        )
    if isinstance(row.top_owners, list) or hasattr(row.top_owners, "tolist"):
        owners = " · ".join(
            f"{formatting.literal(formatting.clipped(owner['name']))} "
            f"**{formatting.size(owner['bytes'])}**"
            for owner in list(row.top_owners)[:TOP]
        )
        lines.append(f"Largest owners: {owners}")
    return "  \n".join(lines)
