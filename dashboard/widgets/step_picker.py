"""Which steps of a run a page is about: the median one, a range, or all of the recording."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.query import Scalar, select
from dashboard.widgets import charts, colours, formatting, menu, zoom
from dashboard.widgets.run_picker import KEPT_STEP, STEP_KEY, Device

MEDIAN, ALL = "median", "all"
CONTROL = "step_control"
LABELS = {MEDIAN: "Median step", ALL: "Whole recording"}
RANGE = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?")
CLICKED, BRUSHED = "clicked", "brushed"
MOST_BARS = 200
TALL, LOW = 170, 84  # pixels, with the axis
FEW, FEW_PIXELS, LEAST_PIXELS = 10, 90, 240  # a strip of so few steps is so wide for each
FAINT = 0.45
HINT = "Wall time of each step.  \nClick a step, or drag over several."


@dataclass(frozen=True)
class Steps:
    """The steps from one to another, both included; without bounds, the whole recording."""

    first: int | None
    last: int | None
    label: str

    @property
    def bounds(self) -> tuple[Scalar, Scalar]:
        """As the macros over steps take them."""
        return self.first, self.last

    @property
    def key(self) -> str:
        """As addresses have it."""
        if self.is_whole:
            return ALL
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole recording, with what lies between and around the steps."""
        return self.first is None

    def where(self) -> dict[str, Scalar]:
        """The conditions that a row with a column `step` is of these steps."""
        return {} if self.is_whole else {"step >=": self.first, "step <=": self.last}

    @property
    def for_files(self) -> str:
        """What the names of files about these steps say of them."""
        if self.is_whole:
            return "whole"
        one = self.first == self.last
        return f"step-{self.first}" if one else f"steps-{self.first}-{self.last}"

    def has(self, step: int) -> bool:
        """Whether a step is one of these."""
        if self.first is None or self.last is None:
            return True
        return self.first <= step <= self.last


WHOLE = Steps(None, None, "the whole recording")


def numbers_of(run: str, device: Device) -> list[int]:
    """The numbers of a device's steps, in order."""
    where = {"run_id": run, **device.where(), "step >=": 0}
    found = data.rows(select("DISTINCT step", "step_metrics", where, order_by="step"))
    return [int(number) for number in found["step"]]


def pick(numbers: Sequence[int], median: int | None, default: str) -> Steps:
    """The control, and the steps chosen: here, in the address, or on the page before.

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
        help="Click a bar of the chart of steps to pick that step; drag over several for a range.",
    )
    return _of(choice, median)


def choose(choice: str | None) -> None:
    """Puts a choice into the address, or takes it out."""
    if choice != st.query_params.get(STEP_KEY):
        zoom.forget()  # it is of other steps
    st.session_state[KEPT_STEP] = choice
    if choice is None:
        st.query_params.pop(STEP_KEY, None)
    elif st.query_params.get(STEP_KEY) != choice:
        st.query_params[STEP_KEY] = choice


def _choice(numbers: Sequence[int], default: str) -> str:
    """What the address says, else what was chosen on another page.

    A choice without any step is dropped.
    """
    asked = st.query_params.get(STEP_KEY)
    if asked is None and st.session_state.pop("is_new_page", False):
        asked = st.session_state.get(KEPT_STEP)
    found = RANGE.fullmatch(asked or "")
    if found:
        first, last = int(found[1]), int(found[2] or found[1])
        if not any(first <= number <= last for number in numbers):
            asked = None
    elif asked not in LABELS:
        asked = None
    choose(asked)
    return asked or default


def _of(choice: str, median: int) -> Steps:
    if choice == ALL:
        return WHOLE
    if choice == MEDIAN:
        return Steps(median, median, f"step {median}, the median")
    first, _, last = choice.partition("-")
    if last and last != first:
        return Steps(int(first), int(last), f"steps {int(first):,} to {int(last):,}")
    return Steps(int(first), int(first), f"step {int(first):,}")


def bars(run: str, device: Device, steps: Steps, *, is_tall: bool) -> None:
    """The time of each step as a bar of its parts, in a tall chart with axes or in a low strip.

    A click picks a step, a drag a range; the others are faint.
    """
    numbers = numbers_of(run, device)
    if not numbers:
        if is_tall:
            st.subheader("Steps", anchor=False)
            st.caption("No steps were found: the whole recording counts as one.")
        return
    if len(numbers) == 1 and not is_tall:
        return
    last = numbers[:MOST_BARS][-1]
    query = select(
        "step, part, is_idle, ns",
        "step_parts",
        {"run_id": run, **device.where(), "ns <>": 0, "step <=": last},
        order_by="step, ordinal",
    )
    frame = data.rows(query)
    key = f"steps-{run}-{device.label}-{steps.bounds}"  # a new one takes the same click again

    def picked() -> None:
        chosen: Any = st.session_state[key]["selection"]
        brushed = sorted(map(int, chosen.get(BRUSHED, {}).get("step", [])))
        if len(brushed) > 1:
            choose(f"{brushed[0]}-{brushed[-1]}")
        elif points := chosen.get(CLICKED):
            choose(str(points[0]["step"]))

    if is_tall:
        menu.heading("Steps", {"steps": query}, "steps", files=run)
        charts.legend_of(set(frame["part"][frame["ns"] > 0]))
    is_narrow = not is_tall and len(numbers) <= FEW
    with st.container(horizontal=True, vertical_alignment="center"):
        st.altair_chart(
            _chart(frame, steps, is_tall),
            width=max(LEAST_PIXELS, FEW_PIXELS * len(numbers)) if is_narrow else "stretch",
            key=key,
            on_select=picked,
            selection_mode=[CLICKED, BRUSHED],
            alt="Wall time of each step",
        )
        if not is_tall:
            st.caption(HINT, width="content")
    if len(numbers) > MOST_BARS:
        st.caption(
            f"The first {MOST_BARS:,} of {len(numbers):,} steps. `step=` in the address takes any."
        )


def _without_overlap(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of positive parts, each with the height of its bar, ns.

    The overlap is negative. It is taken off the work of its step, from each part by its size, so
    that a bar is as high as the wall time.
    """
    parts = frame[frame["ns"] > 0]
    is_work = parts["is_idle"].eq(False).fillna(False).astype(bool)
    overlap = frame[frame["ns"] < 0].groupby("step")["ns"].sum()
    work = parts[is_work].groupby("step")["ns"].sum()
    shares = (1 + overlap / work).reindex(work.index).fillna(1)
    heights = parts["ns"].where(~is_work, parts["ns"] * parts["step"].map(shares))
    return parts.assign(height_ns=heights.astype(float))


def _chart(frame: pd.DataFrame, steps: Steps, is_tall: bool) -> Any:
    wall_ns = frame.groupby("step")["ns"].sum()
    frame = _without_overlap(frame)
    factor, unit = charts.duration_axis(wall_ns.max())
    rows = pd.DataFrame(
        {
            "step": frame["step"].astype(int),
            "label": frame["part"].map(colours.label),
            "place": frame["part"].map(colours.place),
            "value": frame["height_ns"] / factor,
            "time": frame["ns"].map(formatting.duration),
            "whole": frame["step"].map(wall_ns).map(formatting.duration),
            "opacity": [1 if steps.has(int(step)) else FAINT for step in frame["step"]],
        }
    )
    axis = alt.Axis(labelAngle=0, labelOverlap=True, ticks=False, domain=is_tall)
    return (
        alt.Chart(rows)
        .mark_bar(cursor="pointer")
        .encode(
            x=alt.X("step:O", title="step" if is_tall else None, axis=axis),
            y=alt.Y("value:Q", title=unit, axis=alt.Axis(tickCount=4) if is_tall else None),
            order=alt.Order("place:Q"),
            color=charts.coloured(set(frame["part"])),
            opacity=alt.Opacity("opacity:Q", scale=None, legend=None),
            tooltip=charts.tooltips("step:O", "label:N", "time:N", ("whole:N", "of the step's")),
        )
        .add_params(
            alt.selection_point(name=CLICKED, fields=["step"], empty=False),
            alt.selection_interval(name=BRUSHED, encodings=["x"], empty=False),
        )
        .properties(height=TALL if is_tall else LOW)
    )
