"""The sections of page Compare: their anchors, and a line of links to them."""

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
    TIMELINE: "One step of each, on one time axis",
    CALLS: "What called what",
    COMPILATIONS: "Compilations",
}


def links(has_stages: bool) -> None:
    """The line."""
    shown = {anchor: title for anchor, title in TITLES.items() if has_stages or anchor != STAGES}
    links = (f"[{title}](#{anchor})" for anchor, title in shown.items())
    st.markdown(f":small[{' · '.join(links)}]")
