"""The visible range of a chart's axis, kept in the URL, and the buttons to zoom out."""

from dataclasses import dataclass

import streamlit as st

from dashboard.drawing import formatting


@dataclass(frozen=True)
class Zoom:
    """The URL parameters of a range, and the shortest allowed range, in the unit of the axis."""

    since: str
    until: str
    shortest: int

    def to(self, since: int, until: int, **others: str) -> None:
        """Put a range into the URL. The chart then shows it. Ignore a range that is too short.

        `others` are more URL parameters to set.
        """
        if until - since >= self.shortest:
            # Set both at once, or the browser's Back would stop between the two.
            st.query_params.update({self.since: str(since), self.until: str(until), **others})

    def reset(self) -> None:
        """Remove the range from the URL."""
        st.query_params.pop(self.since, None)
        st.query_params.pop(self.until, None)

    def visible_range(self, whole: int, at_first: tuple[int, int] | None = None) -> tuple[int, int]:
        """Return the range in the URL if it is on the axis, else `at_first`, else the whole axis.

        The axis is from 0 to `whole`.
        """
        first = at_first or (0, whole)
        if first[1] - first[0] < self.shortest:
            first = (0, whole)
        try:
            since, until = (int(st.query_params[key]) for key in (self.since, self.until))
        except (KeyError, ValueError):
            return first
        since, until = max(0, since), min(whole, until)
        return (since, until) if until - since >= self.shortest else first

    def controls(self, key: str, since: int, until: int, whole: int, text: str) -> None:
        """Show a text about the range, and buttons to zoom out."""
        length = until - since
        zoomed = length < whole

        def out() -> None:
            wider = 3 * length
            if wider >= whole:
                self.to(0, whole)
            else:
                begin = min(max(0, since - length), whole - wider)
                self.to(begin, begin + wider)

        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(text)
            st.button(
                "Zoom out",
                on_click=out,
                disabled=not zoomed,
                key=f"out-{key}",
                icon=":material/zoom_out:",
            )
            st.button(
                "All",
                on_click=self.to,
                args=(0, whole),
                disabled=not zoomed,
                key=f"all-{key}",
                icon=":material/fit_width:",
            )


TIME = Zoom("from", "to", shortest=24)  # timelines of all pages except Timeline: ns
TRACE = Zoom("since", "until", shortest=24)  # page Timeline: ns since the start of the recording
EVENT = "event"  # page Timeline: start and length of the selected event in ns, for example `12-3`
BESIDE = "beside"  # page Timeline: another run, and its step
GAP = "gap"  # start of the selected gap, in ns since the start of the recording
MEMORY = Zoom("mfrom", "mto", shortest=2)  # memory curves: ns or actions


def forget() -> None:
    """Remove ranges, moments and gaps of another run, device or step from the URL."""
    for zoom in (TIME, TRACE, MEMORY):
        zoom.reset()
    for key in ("at", EVENT, BESIDE, GAP):
        st.query_params.pop(key, None)


def described(since: int, until: int, whole: int) -> str:
    """Return a text about a range: its length, its start and end, and the full length.

    All are in ns.
    """
    length = until - since
    zoomed = length < whole
    ends = [
        formatting.position(at, length) if zoomed else formatting.duration(at)
        for at in (since, until)
    ]
    return (
        f"{formatting.duration(length)} from {ends[0]} to {ends[1]} of {formatting.duration(whole)}"
    )
