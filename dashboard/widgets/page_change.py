"""A change of page that a click asks for."""

import streamlit as st

ASKED = "page_change"


def ask(page: str, query_params: dict[str, str]) -> None:
    """Opens a page, in answer to a widget's callback, before the page clicked on is drawn anew."""
    st.session_state[ASKED] = page, query_params


def follow() -> None:
    """Opens the page that was asked for, if any."""
    if ASKED in st.session_state:
        page, query_params = st.session_state.pop(ASKED)
        st.switch_page(st.session_state["pages"][page], query_params=query_params)
