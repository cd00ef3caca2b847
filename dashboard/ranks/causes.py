"""What the straggler does longer than the other ranks."""

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting, tables
from dashboard.ranks.answer import Answer
from dashboard.widgets import menu
from dashboard.widgets.view import View
from ingest.server import reports

LEAST_PERCENT = 1  # of the straggler's cost
MAX_ROWS = 10  # of a level
HELP = (
    "Time in a step of the straggler and the median of the other ranks. The rows of a level (part "
    "of the step, operator, kernel) add up; levels show the same time in different ways. More "
    "calls are more work. As many calls that take longer are the same work on a slower device, or "
    "with other inputs."
)


def show(view: View, found: Answer) -> None:
    """Show the parts of a step, the operators and the kernels that take the straggler longer."""
    if found.straggler is None:
        return
    section = reports.rank_views.causes(str(view.run))
    frame = data.rows(section.query)
    shown = frame[frame["cost_percent"] >= LEAST_PERCENT].groupby("level").head(MAX_ROWS)
    menu.heading(section.title, {"causes": section.query}, "causes", HELP, files=view.files)
    if shown.empty:
        st.caption("Nothing that was recorded takes it longer than the other ranks.")
        return
    calls = {name: shown[name].map(_calls) for name in ("step_calls", "other_step_calls")}
    tables.show(
        shown[["level", "name", "own_ns", "other_ns", "excess_ns", "cost_percent"]].assign(**calls),
        section.view,
        key=f"causes-{view.run}",
        labels=section.labels,
    )
    if len(shown) < len(frame):
        st.caption(
            f"{len(shown):,} of {len(frame):,} rows: at most {MAX_ROWS} of a level, with at least "
            f"{LEAST_PERCENT} % of the cost. The menu has all of them."
        )


def _calls(mean: float | None) -> str:
    return "–" if formatting.missing(mean) else f"{mean:,.4g}"
