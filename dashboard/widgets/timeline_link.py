"""Links to page Timeline at an event of another page."""

from collections.abc import Mapping

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.widgets import page_change, run_picker, zoom
from dashboard.widgets.run_picker import Device
from ingest.server import select

MIN_AROUND_NS = 100_000  # shown before and after the target, or the target's length if longer
LABEL = "Show in the timeline"
RANKS = "ranks"  # page Timeline: which ranks are below each other: `all`, or a process group
ALL_RANKS = "all"


def recorded(run: str, rank: int) -> tuple[int, int] | None:
    """Return the start of a rank's first event and the end of its last, or None without a trace.

    They are Unix times in ns.
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
    """Show a link to the event that starts at `start_ns` (Unix time), and its surroundings.

    `here` has the URL parameters of the run and its device. The page selects an event with a
    duration. There is no link if the trace of the rank does not cover `start_ns`.
    """
    if address := _address(here, rank, start_ns, dur_ns, start_ns):
        _link(label, list(address.items()))


def open_on_click(
    here: Mapping[str, str], rank: int, start_ns: int, dur_ns: int, since_ns: int
) -> None:
    """Open page Timeline on a click.

    The page also shows `since_ns`, for example the time of the launch.
    """
    if address := _address(here, rank, start_ns, dur_ns, since_ns):
        page_change.request("timeline", address)


def open_step(run: str, device: Device, step: int | None) -> None:
    """Open page Timeline at a step of a device, from the callback of a widget.

    Without a step, it shows the whole recording.
    """
    steps = "all" if step is None else str(step)
    page_change.request("timeline", {"run": run, "step": steps, "device": device.label})


def show_pair(base: tuple[str, int], other: tuple[str, int]) -> None:
    """Show a link to a step of each of two runs, aligned at their starts."""
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
    around = max(MIN_AROUND_NS, dur_ns)
    since = max(begin_ns, min(start_ns, since_ns) - around)
    until = min(end_ns, start_ns + dur_ns + around)
    device = _device(here["run"], rank, here.get("device"))
    address = {**here, **({"device": device} if device else {})} | {
        zoom.TRACE.since: str(since - begin_ns),
        zoom.TRACE.until: str(until - begin_ns),
    }
    return address | ({zoom.EVENT: f"{start_ns - begin_ns}-{dur_ns}"} if dur_ns else {})


def _device(run: str, rank: int, chosen: str | None) -> str:
    """Return the chosen device if it belongs to the rank, else another device of the rank.

    Page Timeline shows one rank.
    """
    labels = [each.label for each in run_picker.metrics_of(run) if each.rank == rank]
    if chosen in labels or not labels:
        return chosen or ""
    return labels[0]


def _link(label: str, address: list[tuple[str, str]]) -> None:
    st.page_link(
        st.session_state["pages"]["timeline"],
        label=label,
        icon=":material/view_timeline:",
        query_params=address,
    )
