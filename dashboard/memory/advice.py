"""Memory advice for a device: each finding with its size, its reason and a remedy."""

from typing import Any

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.widgets import menu
from ingest.server import DeviceMemory, select

TITLES = {
    "fragmentation": "free between allocations",
    "expandable_segments": "expandable segments",
    "largest_owners": "largest owners",
    "leak": "growth over the steps",
}
CRITERIA = (
    "A finding is at least 1% of the peak and at least 1 MiB. Findings overlap, so they do not add "
    "up. Memory grows at a line of code if every step after the first leaves some behind. The last "
    "step does not count because it may be incomplete."
)


def show(device: DeviceMemory) -> None:
    """Show the findings, largest first and owners last, then the checks without a finding."""
    query = select(
        "kind, bytes, percent, finding, remedy, unknown_reason",
        "memory_advice",
        device.where(),
        order_by="kind = 'largest_owners', bytes DESC NULLS LAST, kind",
    )
    frame = data.rows(query)
    found = frame[frame["finding"].notna()]
    with st.expander(_label(found), key=f"memory-advice-{device.key}", icon=":material/lightbulb:"):
        for row in found.itertuples():
            _card(row)
        _others(frame.drop(found.index))
        st.caption(CRITERIA)
        menu.show({"advice": query}, f"{device.run_id}-memory-advice")


def _label(found: pd.DataFrame) -> str:
    """Return the expander's label: each finding's title and size."""
    if found.empty:
        return "Advice: no findings"
    sizes = [f"{TITLES[row.kind]} **{formatting.size(row.bytes)}**" for row in found.itertuples()]
    return f"Advice: {' · '.join(sizes)}"


def _others(frame: pd.DataFrame) -> None:
    """List the checks without a finding, then the checks that could not run, with the reason."""
    unknown = frame[frame["unknown_reason"].notna()]
    minor = frame.drop(unknown.index)
    if not minor.empty:
        st.caption(f"No finding: {_titles(minor['kind'])}.")
    for reason, kinds in unknown.groupby("unknown_reason", sort=False)["kind"]:
        st.caption(f"Unknown because {formatting.literal(str(reason))}: {_titles(kinds)}.")


def _card(row: Any) -> None:
    with st.container(border=True, key=f"memory-advice-{row.kind}"):
        metric, text = st.columns([1, 3], gap="medium")
        with metric:
            st.metric(
                "about",
                formatting.size(row.bytes),
                f"{formatting.percent(row.percent)} of the peak",
                delta_color="off",
                delta_arrow="off",
            )
        with text:
            st.markdown(f"**{TITLES[row.kind].capitalize()}**  \n{formatting.literal(row.finding)}")
            st.caption(f"Try: {formatting.literal(row.remedy)}")


def _titles(kinds: pd.Series) -> str:
    return "; ".join(TITLES[kind] for kind in kinds)
