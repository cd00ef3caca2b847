"""Links to page Timeline, at something that a page shows."""

import streamlit as st

from dashboard import data
from dashboard.query import select
from dashboard.widgets import zoom

AROUND = 1.0  # of its length, at each side of what is looked at
LEAST_AROUND_NS = 100_000


def recorded(run: str, rank: int) -> tuple[int, int]:
    """Unix ns at which the first event of a rank began, and at which the last one ended."""
    query = select(
        "min(start_ns) AS start_ns, max(start_ns + dur_ns) AS end_ns",
        "events",
        {"run_id": run, "rank": rank},
    )
    (row,) = data.rows(query).itertuples()
    return int(row.start_ns), int(row.end_ns)


def show(run: str, rank: int, start_ns: int, dur_ns: int = 0, since_ns: int | None = None) -> None:
    """A link to the moment at which something began, Unix ns, with what lies around it.

    What took time is selected there. `since_ns`: what else must be seen, such as its launch.
    """
    begin_ns, end_ns = recorded(run, rank)
    around = max(LEAST_AROUND_NS, round(AROUND * dur_ns))
    first = start_ns if since_ns is None else min(start_ns, since_ns)
    since = max(0, first - around - begin_ns)
    until = min(end_ns, start_ns + dur_ns + around) - begin_ns
    asked = {"run": run, zoom.TRACE.since: str(since), zoom.TRACE.until: str(until)}
    if dur_ns:
        asked[zoom.EVENT] = f"{start_ns - begin_ns}-{dur_ns}"
    _link("Show in the timeline", asked)


def of_pair(base: str, base_step: int, other: str, other_step: int) -> None:
    """A link to a step of each of two runs, whose starts are at the same time."""
    asked = {"of": base, "step": str(base_step), "beside": f"{other} {other_step}"}
    _link("Both in the timeline", [("run", base), ("run", other), *asked.items()])


def _link(label: str, asked: dict[str, str] | list[tuple[str, str]]) -> None:
    st.page_link(
        st.session_state["pages"]["timeline"],
        label=label,
        icon=":material/view_timeline:",
        query_params=asked,
    )
