"""Page Timeline: strips of the whole recording, and below them a part of it in Perfetto."""

import re
from urllib.parse import urlencode

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.timeline import ranks, strips
from dashboard.widgets import incomplete_runs, perfetto, timeline, timeline_link, url, zoom
from dashboard.widgets.view import View
from ingest.server import reports, select

MAX_EVENTS = 400_000  # more are shown only if the user confirms
EVENTS_A_SECOND = 50_000
HEIGHT = 820  # pixels: a screen of 1,000 without the header
EVENT = re.compile(r"(\d{1,18})-(\d{1,18})")
HINT = (
    "Drag over a strip or pick a step to show another part. In Perfetto, W and S zoom, and A and D "
    "move. Click a kernel to see its launch."
)


def page(view: View) -> None:
    """Draw the page."""
    if view.device is None or view.run is None:
        incomplete_runs.no_activity(str(view.run))
        return
    run, rank = view.run, view.device.rank
    ends = timeline_link.recorded(run, rank)
    if ends is None:
        incomplete_runs.no_activity(run)
        return
    start_ns, end_ns = ends
    length_ns = end_ns - start_ns
    whole = (0, length_ns)
    of_steps = whole if view.steps.is_whole else timeline.range_of_steps(view, start_ns, length_ns)
    since, until = zoom.TRACE.visible_range(length_ns, of_steps)
    chart = st.container()
    with st.container(horizontal=True, vertical_alignment="center"):
        controls = st.container(width="content")
        shown_ranks = ranks.pick(run, rank, start_ns + since)
        beside = _beside(view)
    with chart:
        # With another run beside it, two whole steps are shown, so there is no range to choose.
        shown = of_steps if beside else (since, until)
        strips.show(view, start_ns, length_ns, shown, zooms=not beside)
    if not beside:
        with controls:
            text = timeline.described(view, shown, of_steps, length_ns)
            zoom.TRACE.controls(f"trace-{view.key}", since, until, length_ns, text)
    parameters = [("run", run), *shown_ranks.parameters]
    zero_ns = start_ns - shown_ranks.ahead_ns
    if beside:
        parameters += beside
    elif (since, until) != whole or shown_ranks.are_several:
        parameters += [("from", str(zero_ns + since)), ("to", str(zero_ns + until))]
    if not beside and not _is_confirmed(run, shown_ranks, zero_ns + since, zero_ns + until):
        return
    perfetto.show(urlencode([*parameters, *_event(zero_ns)]), HEIGHT)
    options = _options(parameters)
    st.caption(f"{HINT} To save it as a file: `ingest export {run} --chrome FILE{options}`.")


def _options(parameters: list[tuple[str, str]]) -> str:
    """Return the options of `ingest export --chrome` that export the trace shown."""
    return "".join(
        f" --{key.replace('_', '-')} {value}" for key, value in parameters if key != "run"
    )


def _is_confirmed(run: str, shown: ranks.Shown, since_ns: int, until_ns: int) -> bool:
    """Return whether to show a time range: it has few events, or the user confirms.

    The range is on the clock of the trace, in Unix ns.
    """
    query = select(
        "count(*) AS events",
        "events INNER JOIN clocks USING (rank)",
        {
            "run_id": run,
            "start_ns - coalesce(ahead_ns, 0) <": until_ns,
            "start_ns + dur_ns - coalesce(ahead_ns, 0) >": since_ns,
        },
        given={"clocks": reports.trace_clocks.of_ranks(run, shown.ranks, since_ns)},
    )
    (row,) = data.rows(query).itertuples()
    if row.events <= MAX_EVENTS:
        return True
    st.info(
        f"Perfetto needs about {row.events // EVENTS_A_SECOND:,} s to load {row.events:,} events. "
        "Pick a step or drag over a strip to show only a part.",
        icon=":material/hourglass_top:",
    )
    return st.button(f"Show all {row.events:,} events", icon=":material/view_timeline:")


def _beside(view: View) -> list[tuple[str, str]]:
    """Let the user choose another picked run, and return the parameters that show its step too."""
    others = [run for run in view.runs if run != view.run]
    if not others or view.steps.first is None or view.steps.first != view.steps.last:
        return []
    run, _, step = st.query_params.get(zoom.BESIDE, "").rpartition(" ")
    chosen = st.selectbox(
        "Second run",
        others,
        index=others.index(run) if run in others else None,
        placeholder="Show another run next to it",
        label_visibility="collapsed",
        width=380,
    )
    if chosen is None:
        url.remember(zoom.BESIDE, None)
        return []
    number = int(step) if chosen == run and step.isdecimal() else _median_step(chosen)
    if number is None:
        st.caption(f"{formatting.literal(chosen)} has no steps.")
        return []
    url.remember(zoom.BESIDE, f"{chosen} {number}")
    return [("step", str(view.steps.first)), ("beside", chosen), ("beside_step", str(number))]


def _median_step(run: str) -> int | None:
    """Return the median step of a run on its default device, or None if it has no steps."""
    query = select("step", "run_metrics", {"run_id": run, "is_default": True, "step >=": 0})
    return next((int(step) for step in data.rows(query)["step"]), None)


def _event(zero_ns: int) -> list[tuple[str, str]]:
    """Return the parameters for the event that the address selects.

    `zero_ns` is the start of the recording on the clock of the trace, Unix ns.
    """
    found = EVENT.fullmatch(st.query_params.get(zoom.EVENT, ""))
    return [("at", str(zero_ns + int(found[1]))), ("dur", found[2])] if found else []
