"""A run's median step, and how much its steps vary."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from ingest.server import Value, select

MIN_STEPS = 3  # as for `run_metrics.is_steady`
FOUND = {
    "ProfilerStep": " from the profiler",
    "annotation": " from annotation",
    "module": " from calls of",
}


def name(steps_from: str) -> str:
    """Return the part that a run's metrics describe: the median step or the whole recording."""
    return "the median step" if steps_from in FOUND else "the whole recording"


def described(metrics: Any) -> str:
    """Return a text about the number and origin of a run's steps, the median, and the middle half.

    `metrics` is a row of view `run_metrics`.
    """
    if metrics.steps_from not in FOUND:
        return "no steps were found, so the whole recording counts as one"
    named = f" `{formatting.clipped(str(metrics.step_name), 80)}`"
    named = "" if metrics.steps_from == "ProfilerStep" else named
    found = f"{formatting.counted(int(metrics.steps), 'step')}{FOUND[metrics.steps_from]}{named}"
    if metrics.steps == 1:
        return found
    found += f", median step {int(metrics.step)}"
    return f"{found}, middle half {_middle_half(metrics)}" if compared(metrics) > 1 else found


def compared(metrics: Any) -> int:
    """Return the number of steps that the quartiles compare; all, if an older version added them.

    `metrics` is a row of view `run_metrics`.
    """
    number = metrics.steps if formatting.missing(metrics.compared_steps) else metrics.compared_steps
    return int(number)


def unsteady(runs: Sequence[str]) -> list[str]:
    """Return the runs whose median step may not be typical: their steps vary, or are few."""
    where: dict[str, Value] = {"is_default": True, "is_steady": False}
    found = set(data.rows(select("run_id", "run_metrics", where))["run_id"])
    return [run for run in runs if run in found]


def warn(run: str) -> None:
    """Warn if the run's median step may not be typical."""
    where: dict[str, Value] = {"run_id": run, "is_default": True, "is_steady": False}
    columns = "steps, compared_steps, q1_wall_ns, q3_wall_ns"
    for row in data.rows(select(columns, "run_metrics", where)).itertuples():
        steps = formatting.counted(compared(row), "step")
        why = f"only {steps} can be compared"
        if compared(row) >= MIN_STEPS:
            why = f"the middle half of {steps} takes {_middle_half(row)}"
        st.warning(
            f"The median step of **{formatting.literal(run)}** may not be typical: {why}.",
            icon=":material/balance:",
        )


def _middle_half(metrics: Any) -> str:
    return " to ".join(map(formatting.duration, (metrics.q1_wall_ns, metrics.q3_wall_ns)))
