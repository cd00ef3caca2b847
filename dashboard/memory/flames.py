"""A flame graph of where the memory at the chosen moment was allocated."""

import streamlit as st

from dashboard.memory import chosen_moment
from dashboard.memory.chosen_moment import Moment
from dashboard.widgets import flame_graph, menu, url
from ingest.server import DeviceMemory, select

HELP = (
    "Each box is a line of code. Its width is the memory that the line and its callees had "
    "allocated and not yet freed. Click a box to zoom into it."
)


@st.fragment
def show(device: DeviceMemory, moment: Moment) -> None:
    """Draw the graph when the user opens it."""
    if not device.allocations:
        return
    heading = menu.heading_line(f"Where memory was allocated, {chosen_moment.name(device, moment)}")
    opened = st.expander(
        "Flame graph of the stacks", on_change="rerun", key="flames", bind="query-params"
    )
    if not opened.open:
        return
    with opened:
        stacks = select("*", "memory_stacks_at('moment')", given=device.at(moment.ordinal))
        flame_graph.show(
            select("*", "calls_of_stacks('stacks')", given={"stacks": stacks}),
            "self_bytes",
            url.search("find a line of code", flame_graph.SEARCH),
            heading,
            name="stacks",
            files=device.run_id,
        )
