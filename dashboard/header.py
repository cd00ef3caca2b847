"""The bar at the top of each page: the title, the run, and the selectors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.widgets import incomplete_runs, offered_run, recompiled, run_picker, step_picker
from dashboard.widgets.run_picker import Device
from dashboard.widgets.step_picker import Steps
from dashboard.widgets.view import View
from ingest.server import select, units

ALL_RUNS = "all picked runs"
SHOWN = (
    "By default, pages show the straggler: the rank that makes the others wait. Without one, they "
    "show the rank of median step time."
)
SELECTORS = ("of", "device")  # keys of widgets that some pages lack


@dataclass(frozen=True)
class Entry:
    """A page of the dashboard: its function, title, icon, question and scope.

    scope         "store": the whole store; "run": one of the picked runs; "runs": one or all
    shows         the relation that has rows for a run that the page can show
    steps         the steps that it shows by default; None if the page has no step picker
    has_strip     whether the chart of steps is below the bar
    is_of_device  whether it shows one device, which the user picks, and not all of a run
    """

    draw: Callable[[View], None]
    title: str
    icon: str
    question: str
    scope: Literal["store", "run", "runs"] = "store"
    shows: str = "run_metrics"
    steps: Literal["median", "all"] | None = None
    has_strip: bool = False
    is_of_device: bool = True


def show(entry: Entry) -> View | None:
    """Draw the bar and return its selection.

    If the page needs a run and none is picked, show a message and return None.
    """
    picked: list[str] = st.session_state["runs"]
    st.session_state["is_new_page"] = st.session_state.get("page") != entry.title
    st.session_state["page"] = entry.title
    chosen = st.session_state.setdefault("chosen", set())
    for key in SELECTORS:
        if key in st.query_params:
            chosen.add(key)
        if key not in chosen and st.session_state["is_new_page"]:
            st.session_state.pop(key, None)  # another page's default
        elif key in st.session_state:  # Streamlit drops the state of undrawn widgets
            st.session_state[key] = st.session_state[key]
    bar = st.container(horizontal=True, vertical_alignment="center", key="bar")
    with bar:
        st.title(entry.title, anchor=False, width="content", help=entry.question)
        if entry.scope == "store":
            return View(picked, None, None, None, step_picker.WHOLE, bar)
        if not picked:
            run_picker.ask_for_runs()
            return None
        view = _of_run(entry, picked, bar)
    if view.run:
        offered_run.looked_at(view.run)
        with bar:
            _chips(view.run)
        offered_run.explain(picked)
    incomplete_runs.warn(picked)
    recompiled.warn(picked)
    if entry.has_strip and view.run and view.device:
        step_picker.bars(view.run, view.device, view.steps, is_tall=False)
    return view


def _of_run(entry: Entry, picked: list[str], bar: Any) -> View:
    """Return the run, its device and its steps, with a selector for each that can be chosen."""
    run = _run(entry, picked)
    metrics = run_picker.metrics_of(run) if run else {}
    if run is None or not metrics:
        return View(picked, run, None, None, step_picker.WHOLE, bar)
    devices = list(metrics)
    device = run_picker.pick_device(devices) if entry.is_of_device else devices[0]
    measured = metrics[device]
    if entry.is_of_device and not formatting.missing(measured.default_reason):
        st.caption(
            units.rank_name(device.rank, measured.default_reason), width="content", help=SHOWN
        )
    return View(picked, run, device, measured, _steps(entry, run, device, measured), bar)


def _run(entry: Entry, picked: Sequence[str]) -> str | None:
    if len(picked) == 1:
        return picked[0]
    choices = [ALL_RUNS, *picked] if entry.scope == "runs" else list(picked)
    if st.session_state.get("of") not in choices:
        st.session_state.pop("of", None)
    chosen = st.selectbox(
        "Run",
        choices,
        key="of",
        bind="query-params",
        on_change=run_picker.choose,
        args=["of"],
        width=380,
        label_visibility="collapsed",
    )
    return None if chosen == ALL_RUNS else str(chosen)


def _steps(entry: Entry, run: str, device: Device, measured: Any) -> Steps:
    if entry.steps is None or formatting.missing(measured.step):
        return step_picker.WHOLE
    numbers = step_picker.numbers_of(run, device)
    return step_picker.pick(numbers, int(measured.step), entry.steps)


def _chips(run: str) -> None:
    """Show the run's id, model, mode, device and time as badges."""
    (row,) = data.rows(select("*", "run_overview", {"run_id": run})).itertuples()
    when = (
        f"added {formatting.moment(row.ingested_at)}"
        if formatting.missing(row.started_at)
        else formatting.moment(row.started_at)
    )
    facts = [row.model, row.mode, row.device_name, when]
    chips = [
        f":gray-badge[{formatting.literal(str(fact))}]"
        for fact in facts
        if not formatting.missing(fact)
    ]
    with st.container(key="chips", width="content"):  # the last of the bar (style.css)
        st.markdown(" ".join([f":blue-badge[{formatting.literal(run)}]", *chips]))
