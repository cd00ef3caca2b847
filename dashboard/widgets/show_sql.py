"""The SQL behind a chart or table: shown, and opened in the console."""

import streamlit as st

from dashboard.query import Query

LONGEST_LINK = 6_000  # characters of a query that browsers and proxies carry in an address


def show(query: Query, what: str = "") -> None:
    """A small button that opens the query, its parameters filled in."""
    text = query.inlined()
    with st.popover(f"SQL{what and f': {what}'}", type="tertiary", icon=":material/database:"):
        st.code(
            text, language="sql", wrap_lines=True, height=280 if len(text) > 1_500 else "content"
        )
        if len(text) <= LONGEST_LINK:
            st.page_link(
                st.session_state["pages"]["sql"],
                label="Open in the console",
                icon=":material/terminal:",
                query_params={"sql": text},
            )
        else:
            st.caption("Too long for a link: copy it into the console.")
