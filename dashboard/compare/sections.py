"""The sections of page Compare: anchors, titles, and a line of links."""

import streamlit as st

METRICS, STAGES, DIFFERENCES, OPERATORS = "metrics", "stages", "differences", "operators"
KERNELS, TIMELINE, CALLS = "kernels", "timeline", "calls"
COMPILATIONS = "compilations"
TITLES = {
    METRICS: "Where the difference comes from",
    STAGES: "Stages of the pipeline",
    DIFFERENCES: "Different settings",
    OPERATORS: "Operators",
    KERNELS: "Kernels by name",
    TIMELINE: "Timelines of one step of each run",
    CALLS: "Call stacks",
    COMPILATIONS: "Compilations",
}


def links(has_stages: bool) -> None:
    """Show the line of links."""
    shown = {anchor: title for anchor, title in TITLES.items() if has_stages or anchor != STAGES}
    links = (f"[{title}](#{anchor})" for anchor, title in shown.items())
    st.markdown(f":small[{' · '.join(links)}]")
