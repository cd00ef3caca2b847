"""The sections of page Compare: their anchors, and a line of links to them."""

import streamlit as st

METRICS, DIFFERENCES, OPERATORS = "metrics", "differences", "operators"
TIMELINE, COMPILATIONS = "timeline", "compilations"
ALL = (METRICS, DIFFERENCES, OPERATORS, TIMELINE, COMPILATIONS)


def links() -> None:
    """The line."""
    st.caption(" · ".join(f"[{anchor.capitalize()}](#{anchor})" for anchor in ALL))
