"""The picker for steps of a run: the median step, a range of steps, or the whole recording."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import charts, formatting, step_bars
from dashboard.widgets import menu, run_picker, zoom
from dashboard.widgets.run_picker import KEPT_STEP, STEP_KEY, Device
from ingest.server import Scalar, select

MEDIAN, ALL = "median", "all"
CONTROL = "step_control"
LABELS = {MEDIAN: "Median step", ALL: "Whole recording"}
RANGE = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?")
MAX_BARS = 200
MIN_DIFFERENCE = 0.01  # of a step's range to its wall time, relative, for a mark
HINT = "Wall time of each step.  \nClick a step, or drag over several."
LOGARITHMIC = "  \nThe axis is logarithmic."


@dataclass(frozen=True)
class Steps:
    """A range of steps, both ends included; without bounds, the whole recording."""

    first: int | None
    last: int | None
    label: str

    @property
    def bounds(self) -> tuple[Scalar, Scalar]:
        """The arguments of macros over steps."""
        return self.first, self.last

    @property
    def key(self) -> str:
        """The value of the URL parameter."""
        if self.is_whole:
            return ALL
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole recording, with the time between and around the steps."""
        return self.first is None

    def where(self) -> dict[str, Scalar]:
        """Return the conditions for rows of these steps, by their column `step`."""
        return {} if self.is_whole else {"step >=": self.first, "step <=": self.last}

    @property
    def for_files(self) -> str:
        """The part of a file name for these steps."""
        if self.is_whole:
            return "whole"
        one = self.first == self.last
        return f"step-{self.first}" if one else f"steps-{self.first}-{self.last}"

    def has(self, step: int) -> bool:
        """Return whether a step is in the range."""
        if self.first is None or self.last is None:
            return True
        return self.first <= step <= self.last


WHOLE = Steps(None, None, "the whole recording")


def numbers_of(run: str, device: Device) -> list[int]:
    """Return the numbers of a device's steps, in order."""
    return list(_times(run, device).index)


def _times(run: str, device: Device) -> pd.DataFrame:
    """Return `wall_ns` and `range_ns` of each of a device's steps, in the order of the steps."""
    where = {"run_id": run, **device.where(), "step >=": 0}
    columns = "step, sum(wall_ns)::BIGINT AS wall_ns, sum(range_ns)::BIGINT AS range_ns"
    found = data.rows(select(columns, "step_metrics", where, group_by="step", order_by="step"))
    return found.astype(int).set_index("step")


def pick(numbers: Sequence[int], median: int | None, default: str) -> Steps:
    """Show the picker. Return the steps chosen here, in the URL, or on the previous page.

    `default` is `median` or `all`.
    """
    if not numbers or median is None:
        return WHOLE
    choice = _choice(numbers, default)
    other = None if choice in LABELS else _of(choice, median)
    options = [*LABELS, choice] if other else list(LABELS)
    st.session_state[CONTROL] = choice
    st.segmented_control(
        "Steps",
        options,
        format_func=lambda option: (
            LABELS.get(option) or (other.label.capitalize() if other else "")
        ),
        key=CONTROL,
        label_visibility="collapsed",
        on_change=lambda: choose(st.session_state[CONTROL] or choice),
        help="Click a bar in the chart of steps to pick a step. Drag over bars to pick a range.",
    )
    return _of(choice, median)


def choose(choice: str | None) -> None:
    """Put a choice into the URL, or remove it."""
    if choice != st.query_params.get(STEP_KEY):
        zoom.forget()  # the zoom belongs to other steps
    _keep(choice)


def _keep(choice: str | None) -> None:
    st.session_state[KEPT_STEP] = choice
    if choice is None:
        st.query_params.pop(STEP_KEY, None)
    elif st.query_params.get(STEP_KEY) != choice:
        st.query_params[STEP_KEY] = choice


def _choice(numbers: Sequence[int], default: str) -> str:
    """Return the choice in the URL, else the choice on the previous page, else the default.

    A choice that matches no step is dropped.
    """
    choice = st.query_params.get(STEP_KEY)
    if choice is None and st.session_state.pop("is_new_page", False):
        choice = st.session_state.get(KEPT_STEP)
    asked = choice
    found = RANGE.fullmatch(choice or "")
    if found:
        first, last = int(found[1]), int(found[2] or found[1])
        if not any(first <= number <= last for number in numbers):
            choice = None
    elif choice not in LABELS:
        choice = None
    if asked and not choice and asked == st.query_params.get(STEP_KEY):
        run_picker.not_here(f"step {asked}", f"the {LABELS[default].lower()}")
    _keep(choice)
    return choice or default


def _of(choice: str, median: int) -> Steps:
    if choice == ALL:
        return WHOLE
    if choice == MEDIAN:
        return Steps(median, median, f"step {median:,}, the median")
    first, _, last = choice.partition("-")
    if last and last != first:
        return Steps(int(first), int(last), f"steps {int(first):,} to {int(last):,}")
    return Steps(int(first), int(first), f"step {int(first):,}")


def bars(run: str, device: Device, steps: Steps, *, is_tall: bool) -> None:
    """Draw each step as a bar of its parts, in a tall chart with axes or in a low strip.

    A click picks a step, and a drag picks a range. Steps that are not picked are faint.
    """
    times = _times(run, device)
    numbers = list(times.index)
    if len(numbers) < 2:
        if is_tall:
            _figure(times)
        return
    shown = _around(numbers, steps)
    query = select(
        "step, part, is_idle, ns",
        "step_parts",
        {
            **{"run_id": run, **device.where(), "ns <>": 0},
            **{"step >=": shown[0], "step <=": shown[-1]},
        },
        order_by="step, ordinal",
    )
    frame = data.rows(query)
    times = times.loc[shown]
    walls, ranges = times["wall_ns"], times["range_ns"]
    marks = ranges[(ranges - walls).abs() > MIN_DIFFERENCE * ranges].to_dict()
    is_log = charts.is_dwarfed(walls)
    if is_tall:
        menu.heading("Steps", {"steps": query}, "steps", files=run)
        charts.legend_of(set(frame["part"][frame["ns"] > 0]))
    with st.container(horizontal=True, vertical_alignment="center"):
        step_bars.show(
            walls.to_dict(),
            frame,
            steps.has,
            lambda first, last: choose(str(first) if first == last else f"{first}-{last}"),
            marks=marks,
            is_tall=is_tall,
            key=f"steps-{run}-{device.label}",
        )
        if not is_tall:
            st.caption(HINT + (LOGARITHMIC if is_log else ""), width="content")
    if is_tall and marks:
        st.caption(
            "The line across a bar marks how long the host was in the step, which the profiler "
            "shows as the step's range."
        )
    if is_tall and is_log:
        st.caption(
            "The axis is logarithmic, because one step takes much longer than the others. The "
            "colours divide each bar in proportion."
        )
    if is_tall and (frame["ns"] < 0).any():
        st.caption(
            "If work overlaps, the bars of the work are shortened, so that each step is as high as "
            "its wall time."
        )
    if len(shown) < len(numbers):
        st.caption(
            f"Steps {shown[0]:,} to {shown[-1]:,} of {len(numbers):,} are shown. To pick another "
            "step, set `step=` in the URL."
        )


def _figure(times: pd.DataFrame) -> None:
    """Show the only step as a number, or that there is none."""
    st.subheader("Steps", anchor=False)
    if times.empty:
        st.caption("No steps were found, so the whole recording counts as one.")
    for step, row in times.iterrows():
        st.metric(f"Step {step:,}, the only one", formatting.duration(row["wall_ns"]))


def _around(numbers: Sequence[int], steps: Steps) -> Sequence[int]:
    """Return up to MAX_BARS step numbers, centred on the picked steps."""
    picked = next((index for index, number in enumerate(numbers) if steps.has(number)), 0)
    first = max(0, min(picked - MAX_BARS // 2, len(numbers) - MAX_BARS))
    return numbers[first : first + MAX_BARS]
