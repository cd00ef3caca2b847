"""A change of page that a click asks for."""

from collections.abc import Mapping

import streamlit as st

from dashboard.widgets.run_picker import RUN_KEY

ASKED = "page_change"
DEVICE = "device"


def ask(page: str, address: Mapping[str, str]) -> None:
    """Asks for a page about the run in an address, in answer to a widget's callback.

    It opens before the page that was clicked on is drawn anew.
    """
    run = address[RUN_KEY]
    picked = st.session_state["runs"]
    if run not in picked:
        picked = st.session_state[RUN_KEY] = [*picked, run]
    chosen = {"of": run} if len(picked) > 1 else {}
    if DEVICE in address:
        chosen[DEVICE] = address[DEVICE]
    for key, value in chosen.items():  # Streamlit refuses parameters that are bound to a widget
        st.session_state[key] = value
        st.session_state["chosen"].add(key)
    others = {key: value for key, value in address.items() if key not in (RUN_KEY, DEVICE)}
    st.session_state[ASKED] = page, others


def carry_out() -> None:
    """Opens the page that was asked for, if any."""
    if ASKED in st.session_state:
        page, query_params = st.session_state.pop(ASKED)
        st.switch_page(st.session_state["pages"][page], query_params=query_params)
