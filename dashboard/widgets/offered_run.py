"""The run that a page shows if the user opens it without one."""

from collections.abc import Sequence

import streamlit as st

from dashboard import data
from dashboard.widgets.run_picker import RUN_KEY
from ingest.server import select

LOOKED_AT = "looked_at"  # the run that a page showed last
OFFERED = "offered"  # the offered run and why, until the user picks runs
NO_OFFER = (None, None)
MAX_TRIED = 50  # of the newest runs


def pick(run_ids: Sequence[str], relation: str | None) -> None:
    """Pick the run that was looked at last, or else the newest with rows in `relation`.

    Called on each new page. `run_ids` are all runs, newest first. Pick none if the user picked
    runs, or the URL names some. A page of the whole store has no `relation` and drops the offer.
    """
    named = [run for run in st.query_params.get_all(RUN_KEY) if run]
    run, _ = st.session_state.get(OFFERED, NO_OFFER)
    if run and named in ([], [run]) and st.session_state.get(RUN_KEY) == [run]:
        if relation is None:
            st.session_state[RUN_KEY] = []
            st.query_params.pop(RUN_KEY, None)
            del st.session_state[OFFERED]
        return
    st.session_state.pop(OFFERED, None)
    is_picked = named or st.session_state.get(RUN_KEY)
    if relation is None or is_picked or len(run_ids) < 2:
        return
    run, why = st.session_state.get(LOOKED_AT), "the run that you looked at last"
    if run not in run_ids:
        tried = list(run_ids[:MAX_TRIED])
        found = data.rows(select("DISTINCT run_id", relation, {"run_id": tried}))["run_id"]
        run = next((run for run in tried if run in set(found)), None)
        why = "the last one added that this page can show"
    if run:
        st.session_state[RUN_KEY] = [run]
        st.session_state[OFFERED] = (run, why)


def explain(picked: Sequence[str]) -> None:
    """Say why the page shows this run if the user did not pick it."""
    run, why = st.session_state.get(OFFERED, NO_OFFER)
    if list(picked) == [run]:
        st.caption(f"You picked no run. This is {why}. Pick others in the list on the left.")


def looked_at(run: str) -> None:
    """Remember the run that a page shows."""
    st.session_state[LOOKED_AT] = run
