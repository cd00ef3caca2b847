"""The sections of page Compare: anchors, titles, and a line of links."""

from collections.abc import Collection

import streamlit as st

METRICS, STAGES, DIFFERENCES, OPERATORS = "metrics", "stages", "differences", "operators"
KERNELS, TIMELINE, CALLS = "kernels", "timeline", "calls"
RANKS, COMPILATIONS = "ranks", "compilations"
TITLES = {
    METRICS: "Where the difference comes from",
    RANKS: "Ranks",
    STAGES: "Stages of the pipeline",
    DIFFERENCES: "Different settings",
    OPERATORS: "Operators",
    KERNELS: "Kernels by name",
    TIMELINE: "Timelines of one step of each run",
    CALLS: "Call stacks",
    COMPILATIONS: "Compilations",
}


def links(absent: Collection[str]) -> None:
    """Show the line of links, without the sections that are `absent`."""
    links = (f"[{title}](#{anchor})" for anchor, title in TITLES.items() if anchor not in absent)
    st.markdown(f":small[{' · '.join(links)}]")
