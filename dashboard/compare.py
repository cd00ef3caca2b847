"""Page Compare: what changed from one run, or group of runs, to the other, and why."""

import streamlit as st

from dashboard import (
    compare_answer,
    compare_compilations,
    compare_medians,
    compare_operators,
    compare_pair,
    compare_timeline,
    compare_waterfall,
    damage,
    recompiled,
)


def page() -> None:
    """The page."""
    st.title("Compare")
    compare_pair.question()
    pair = compare_pair.pick(st.session_state["runs"])
    if pair is None:
        return
    damage.warn(pair.all_runs)
    recompiled.warn(pair.all_runs)
    figures = compare_answer.show(pair)
    if figures is None:
        return
    compare_waterfall.show(pair, figures)
    compare_medians.introduce(pair)
    compare_operators.show(pair)
    compare_timeline.show(pair)
    compare_compilations.show(pair)
