"""Links to page Timeline, at something that a page shows."""

from collections.abc import Mapping

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.query import select
from dashboard.widgets import page_change, run_picker, zoom

LEAST_AROUND_NS = 100_000  # shown before and after the target; its own length if that is more
LABEL = "Show in the timeline"


def recorded(run: str, rank: int) -> tuple[int, int] | None:
    """Unix ns at which the first event of a rank began, and at which the last one ended.

    None where there is no trace of it.
    """
    query = select(
        "min(start_ns) AS start_ns, max(start_ns + dur_ns) AS end_ns",
        "events",
        {"run_id": run, "rank": rank},
    )
    (row,) = data.rows(query).itertuples()
    return None if formatting.missing(row.start_ns) else (int(row.start_ns), int(row.end_ns))


def show(
    here: Mapping[str, str], rank: int, start_ns: int, dur_ns: int = 0, label: str = LABEL
) -> None:
    """A link to what began at `start_ns`, Unix time, and to its surroundings.

    `here` is the address of the run and its device. The page selects what has a duration. There is
    no link if the trace of the rank does not cover that moment.
    """
    if asked := _address(here, rank, start_ns, dur_ns, start_ns):
        _link(label, list(asked.items()))


def open_on_click(
    here: Mapping[str, str], rank: int, start_ns: int, dur_ns: int, since_ns: int
) -> None:
    """Opens that page in answer to a click; `since_ns` must be seen too, such as a launch."""
    if asked := _address(here, rank, start_ns, dur_ns, since_ns):
        page_change.ask("timeline", asked)


def of_pair(base: tuple[str, int], other: tuple[str, int]) -> None:
    """A link to a step of each of two runs, whose starts are at the same time."""
    beside = " ".join(map(str, other))
    of_base = [("of", base[0]), ("step", str(base[1])), (zoom.BESIDE, beside)]
    _link("Both in one timeline", [("run", base[0]), ("run", other[0]), *of_base])


def _address(
    here: Mapping[str, str], rank: int, start_ns: int, dur_ns: int, since_ns: int
) -> dict[str, str]:
    ends = recorded(here["run"], rank)
    if ends is None or not ends[0] <= start_ns <= ends[1]:
        return {}
    begin_ns, end_ns = ends
    around = max(LEAST_AROUND_NS, dur_ns)
    since = max(begin_ns, min(start_ns, since_ns) - around)
    until = min(end_ns, start_ns + dur_ns + around)
    device = _device(here["run"], rank, here.get("device"))
    asked = {**here, **({"device": device} if device else {})} | {
        zoom.TRACE.since: str(since - begin_ns),
        zoom.TRACE.until: str(until - begin_ns),
    }
    return asked | ({zoom.EVENT: f"{start_ns - begin_ns}-{dur_ns}"} if dur_ns else {})


def _device(run: str, rank: int, chosen: str | None) -> str:
    """The chosen device if it is of that rank, else a device of it: that page is about a rank."""
    labels = [each.label for each in run_picker.measured_devices(run) if each.rank == rank]
    if chosen in labels or not labels:
        return chosen or ""
    return labels[0]


def _link(label: str, asked: list[tuple[str, str]]) -> None:
    st.page_link(
        st.session_state["pages"]["timeline"],
        label=label,
        icon=":material/view_timeline:",
        query_params=asked,
    )
