"""Page Timeline: a strip of the whole recording, and below it a stretch of it in Perfetto."""

import re
from urllib.parse import urlencode

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.query import select
from dashboard.timeline import overview
from dashboard.widgets import incomplete_runs, perfetto, run_picker, timeline, timeline_link, zoom
from dashboard.widgets.view import View

MOST_EVENTS = 400_000  # that are shown without a question
EVENTS_A_SECOND = 50_000
HEIGHT = 820  # pixels: all but the header of a screen of 1,000
ALL_RANKS = "ranks"  # in the URL: whether all ranks are shown
EVENT = re.compile(r"(\d{1,18})-(\d{1,18})")
HINT = (
    "Drag over the strip, or pick a step, to show another part. W, A, S and D zoom and move. A "
    "click on a kernel shows its launch."
)


def page(view: View) -> None:
    """The page."""
    if view.device is None or view.run is None:
        incomplete_runs.no_activity(str(view.run))
        return
    run, rank = view.run, view.device.rank
    ends = timeline_link.recorded(run, rank)
    if ends is None:
        incomplete_runs.no_activity(run)
        return
    start_ns, end_ns = ends
    whole = end_ns - start_ns
    of_steps = timeline.stretch_of_steps(view, start_ns, whole)
    since, until = zoom.TRACE.stretch(whole, of_steps)
    chart = st.container()
    with st.container(horizontal=True, vertical_alignment="center"):
        ranks = [] if _all_ranks(run) else [("rank", str(rank))]
        beside = _beside(view)
    with chart:
        if beside:  # two steps: there is no stretch to choose
            overview.show(view, start_ns, whole, of_steps, zooms=False)
        else:
            overview.show(view, start_ns, whole, (since, until), zooms=True)
            text = timeline.described(view, (since, until), of_steps, whole)
            zoom.TRACE.controls(f"trace-{view.key}", since, until, whole, text)
    asked = [("run", run), *ranks]
    if beside:
        asked += beside
    elif (since, until) != (0, whole):
        asked += [("from", str(start_ns + since)), ("to", str(start_ns + until))]
    if not beside and not _is_wanted(run, dict(ranks), start_ns + since, start_ns + until):
        return
    perfetto.show(urlencode([*asked, *_event(start_ns)]), HEIGHT)
    st.caption(f"{HINT} As a file: `ingest export {run} --chrome FILE{_options(asked)}`.")


def _options(asked: list[tuple[str, str]]) -> str:
    """The options of `ingest export --chrome` for the trace that is shown."""
    return "".join(f" --{key.replace('_', '-')} {value}" for key, value in asked if key != "run")


def _is_wanted(run: str, of_rank: dict[str, str], since_ns: int, until_ns: int) -> bool:
    """Whether a stretch is small enough for Perfetto, or the user asks for it all the same."""
    inside = {"start_ns <": until_ns, "start_ns + dur_ns >": since_ns}
    rank = {key: int(value) for key, value in of_rank.items()}
    query = select("count(*) AS events", "events", {"run_id": run, **rank, **inside})
    (row,) = data.rows(query).itertuples()
    if row.events <= MOST_EVENTS:
        return True
    st.info(
        f"{row.events:,} events: Perfetto takes about {row.events // EVENTS_A_SECOND:,} s to load "
        "them. Pick a step, or drag over the strip, for a part.",
        icon=":material/hourglass_top:",
    )
    return st.button(f"Show all {row.events:,} events", icon=":material/view_timeline:")


def _all_ranks(run: str) -> bool:
    """Whether all ranks of the run are shown, on one clock; asked only where it has several."""
    query = select(
        "count(DISTINCT rank) AS ranks", "sources", {"run_id": run, "complete_events >": 0}
    )
    (row,) = data.rows(query).itertuples()
    if row.ranks < 2:
        return False
    return st.toggle(f"All {row.ranks:,} ranks", key=ALL_RANKS, bind="query-params")


def _beside(view: View) -> list[tuple[str, str]]:
    """The query for a step of another picked run beside the step of this one, if one is chosen."""
    others = [run for run in view.runs if run != view.run]
    if not others or view.steps.first is None or view.steps.first != view.steps.last:
        return []
    run, _, step = st.query_params.get(zoom.BESIDE, "").rpartition(" ")
    chosen = st.selectbox(
        "Beside it",
        others,
        index=others.index(run) if run in others else None,
        placeholder="Another run beside it",
        label_visibility="collapsed",
        width=380,
    )
    if chosen is None:
        run_picker.remember(zoom.BESIDE, None)
        return []
    number = int(step) if chosen == run and step.isdecimal() else _median_step(chosen)
    if number is None:
        st.caption(f"{formatting.literal(chosen)} has no steps.")
        return []
    run_picker.remember(zoom.BESIDE, f"{chosen} {number}")
    return [("step", str(view.steps.first)), ("beside", chosen), ("beside_step", str(number))]


def _median_step(run: str) -> int | None:
    """The median step of a run, of its slowest device."""
    query = select("step", "run_metrics", {"run_id": run, "is_slowest": True, "step >=": 0})
    return next((int(step) for step in data.rows(query)["step"]), None)


def _event(start_ns: int) -> list[tuple[str, str]]:
    """The query for the event that the address selects."""
    found = EVENT.fullmatch(st.query_params.get(zoom.EVENT, ""))
    return [("at", str(start_ns + int(found[1]))), ("dur", found[2])] if found else []
