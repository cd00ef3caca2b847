"""The sections of page Compare: their anchors, and a line of links to them."""

import streamlit as st

METRICS, DIFFERENCES, OPERATORS = "metrics", "differences", "operators"
KERNELS, TIMELINE, CALLS = "kernels", "timeline", "calls"
COMPILATIONS = "compilations"
TITLES = {
    METRICS: "Where the difference comes from",
    DIFFERENCES: "Different settings",
    OPERATORS: "Operators",
    KERNELS: "Kernels by name",
    TIMELINE: "One step of each, on one time axis",
    CALLS: "What called what",
    COMPILATIONS: "Compilations",
}


def links() -> None:
    """The line."""
    links = (f"[{title}](#{anchor})" for anchor, title in TITLES.items())
    st.markdown(f":small[{' · '.join(links)}]")
