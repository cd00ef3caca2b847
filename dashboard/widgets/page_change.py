"""A change of page that a click asks for."""

from collections.abc import Mapping

import streamlit as st

from dashboard.widgets.run_picker import RUN_KEY

ASKED = "page_change"


def ask(page: str, run: str, query_params: Mapping[str, str]) -> None:
    """Opens a page about a run, in answer to a widget's callback.

    It opens before the page that was clicked on is drawn anew.
    """
    picked = st.session_state["runs"]
    if run not in picked:
        picked = st.session_state[RUN_KEY] = [*picked, run]
    if len(picked) > 1:
        st.session_state["of"] = run
        st.session_state["chosen"].add("of")
    st.session_state[ASKED] = page, query_params


def follow() -> None:
    """Opens the page that was asked for, if any."""
    if ASKED in st.session_state:
        page, query_params = st.session_state.pop(ASKED)
        st.switch_page(st.session_state["pages"][page], query_params=query_params)
