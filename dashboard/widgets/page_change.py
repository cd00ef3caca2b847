"""Changes of page, or of the run that a page shows, on a click."""

from collections.abc import Mapping

import streamlit as st

from dashboard.widgets.run_picker import RUN_KEY, choose

REQUESTED = "page_change"
DEVICE = "device"


def request(page: str, address: Mapping[str, str]) -> None:
    """Request a page with URL parameters, from the callback of a widget.

    The page opens before the current page is redrawn.
    """
    st.session_state[REQUESTED] = page, _chosen(address)


def stay(address: Mapping[str, str]) -> None:
    """Show a run with URL parameters on the current page, from the callback of a widget.

    Before, the page shows several runs. No picker is bound to the parameter `device` then, so it
    can be set.
    """
    choose("of")  # drops the steps of the run before
    st.query_params.update(_chosen(address))
    if DEVICE in address:
        st.query_params[DEVICE] = address[DEVICE]


def _chosen(address: Mapping[str, str]) -> dict[str, str]:
    """Choose the run and the device of an address. Return its other parameters."""
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
    return {key: value for key, value in address.items() if key not in (RUN_KEY, DEVICE)}


def carry_out() -> None:
    """Open the requested page, if any."""
    if REQUESTED in st.session_state:
        page, query_params = st.session_state.pop(REQUESTED)
        st.switch_page(st.session_state["pages"][page], query_params=query_params)
