"""Stages of pipeline calls: a picker, and table rows with their block classes."""

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.widgets.view import View
from ingest.server import Scalar, reports

KEY = "stage"  # URL parameter
ALL = "all stages"
INDENT = "\u2003"
TITLE = "Stages of the pipeline"


@dataclass(frozen=True)
class Stage:
    """A picked stage. `has_steps` is whether its operators are in steps."""

    name: str
    has_steps: bool

    def bounds(self, view: View) -> tuple[Scalar, Scalar]:
        """Return the picked steps; without any steps in the stage, the whole recording."""
        return view.steps.bounds if self.has_steps else (None, None)

    def where(self, view: View) -> dict[str, Scalar]:
        """Return the conditions for its operators in the picked steps, in `op_efficiency`."""
        return {"stage": self.name, **(view.steps.where() if self.has_steps else {})}


def pick(run: str) -> Stage | None:
    """Show a picker for stages if the run has any. Return the stage, or None for all of them."""
    found = data.rows(reports.efficiency.of_stages(run))
    if found.empty:
        return None
    options = [ALL, *found["stage"]]
    if st.session_state.get(KEY) not in options:
        st.session_state.pop(KEY, None)
    chosen = st.selectbox(
        "Stage",
        options,
        key=KEY,
        bind="query-params",
        width=150,
        label_visibility="collapsed",
        help="Stages of pipeline calls. Outside of the denoising loop, steps do not count.",
    )
    if chosen == ALL:
        return None
    return Stage(str(chosen), bool(found.set_index("stage")["has_steps"][chosen]))


def labelled(frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows of `stage_summary` or `stage_diff` with their names, indented, in `stage`."""
    names = [_name(row.level, row.stage, row.block_class) for row in frame.itertuples()]
    return frame.assign(stage=names).drop(columns=["level", "block_class"])


def _name(level: object, stage: object, block: object) -> str:
    if level == "call":
        return "call"
    if level == "stage":
        return INDENT + str(stage)
    return 2 * INDENT + ("outside of blocks" if formatting.missing(block) else str(block))
