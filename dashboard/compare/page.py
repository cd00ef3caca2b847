"""Page Compare: what changed from one run, or group of runs, to the other, and why."""

import streamlit as st

from dashboard.compare import (
    answer,
    compilations,
    differences,
    flames,
    kernels,
    medians,
    operators,
    parts,
    picker,
    ranks,
    sections,
    several,
    stages,
    timeline,
)
from dashboard.compare.pair import BASE, Pair
from dashboard.widgets import incomplete_runs, recompiled
from dashboard.widgets.view import View


def page(view: View) -> None:
    """Draw the page."""
    pair = picker.pick(view)
    if pair is None:
        return
    links = st.container()
    several.show(pair, view.runs)
    incomplete_runs.warn(pair.all_runs)
    recompiled.warn(pair.all_runs)
    metrics = answer.show(pair)
    if metrics is None:
        return
    with links:
        known = {sections.RANKS: ranks.has_rows(pair), sections.STAGES: stages.has_rows(pair)}
        sections.links(absent=[section for section, is_shown in known.items() if not is_shown])
    parts.show(pair, metrics)
    ranks.show(pair)
    stages.show(pair)
    medians.introduce(pair)
    differences.show(pair)
    _work(pair, float(metrics.loc["wall", BASE]))
    flames.show(pair)
    compilations.show(pair, metrics.loc["wall"])


@st.fragment
def _work(pair: Pair, wall_ns: float) -> None:
    """Draw the sections that a selected operator changes: it is highlighted in the timeline."""
    operators.show(pair, wall_ns)
    kernels.show(pair)
    timeline.show(pair)
