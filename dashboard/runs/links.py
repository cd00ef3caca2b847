"""Links from the picked runs to the other pages."""

from collections.abc import Sequence

import streamlit as st

from dashboard.widgets import compare_link

PAGES = ("overview", "operators", "bubbles", "timeline", "memory", "advice", "compare", "trends")


def show(picked: Sequence[str]) -> None:
    """Draw a link to each page. The page then shows the picked runs."""
    pages = st.session_state["pages"]
    for name in PAGES:
        if name == "compare" and len(picked) == 2:
            compare_link.show_by_age(picked, "Compare")
            continue
        is_base = name == "compare" and len(picked) == 1
        st.page_link(
            pages[name], query_params={"run": picked[0], "base": picked[0]} if is_base else None
        )
