"""The card of the clicked variant: details that its row lacks, and links."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from dashboard.drawing import formatting
from dashboard.widgets import compare_link

PAGES = ("overview", "operators", "advice")


def show(row: pd.Series, close: Callable[[], None]) -> None:
    """Draw a card with the times of each process, the reasons for failures, and links."""
    with st.container(border=True, key="sweep-variant"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                f"**{formatting.literal(row['variant'])}**  \n{formatting.literal(row['run_id'])}"
            )
            st.button("Close", icon=":material/close:", on_click=close, type="tertiary")
        if row["process_image_ns"] is not None:
            times = ", ".join(map(formatting.duration, row["process_image_ns"]))
            st.markdown(f"Time per image in each process: {times}.")
            st.markdown(f"Output: {distance(row)}.")
        for title, reasons in (
            ("Failed", [row["failure"]]),
            ("Could not be compiled, and ran eager", row["compile_failures"]),
            ("Compiled again", row["recompile_reasons"]),
            ("Graph break", row["graph_break_reasons"]),
        ):
            for reason in [] if reasons is None else reasons:
                if not formatting.missing(reason):
                    st.markdown(f"{title}: {formatting.literal(formatting.clipped(reason, 600))}")
        _links(row)


def distance(row: pd.Series) -> str:
    """Return as text how much the output differs from that of the base."""
    pair = "between its processes" if row["is_base"] else "from eager"
    if formatting.missing(row["mean_distance"]):
        failure = (
            "processes cannot be compared" if row["is_base"] else "cannot be compared with eager"
        )
        return f"{failure}: {row['distance_reason'] or 'unknown'}"
    if row["max_distance"] == 0:
        return "equal in all processes" if row["is_base"] else "equal to eager"
    return f"mean difference {pair} {formatting.difference(row['mean_distance'])}"


def psnr(row: pd.Series) -> str:
    """Return the peak signal-to-noise ratio as text."""
    if row["max_distance"] == 0:
        return "equal"
    if formatting.missing(row["psnr_db"]):
        return formatting.NONE
    return f"{formatting.three_digits(row['psnr_db'])} dB"


def _links(row: pd.Series) -> None:
    pages = st.session_state["pages"]
    has_profile = formatting.missing(row["failure"])
    with st.container(horizontal=True):
        for page in PAGES if has_profile else ("runs",):
            st.page_link(pages[page], query_params={"run": row["run_id"]})
        base = row["base_run_id"]
        if has_profile and not row["is_base"] and not formatting.missing(base):
            compare_link.show(base, row["run_id"], f"Compare with {row['base_variant']}")
    if has_profile:
        st.caption(
            "These pages show the variant's profile: one call, including the profiler's overhead."
        )
