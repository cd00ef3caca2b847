"""The part of a chart's axis that is shown, in the URL, and the buttons that lead back to more."""

from dataclasses import dataclass

import streamlit as st

from dashboard.drawing import formatting


@dataclass(frozen=True)
class Zoom:
    """The query parameters that hold a stretch, and the shortest one, in the axis' unit."""

    since: str
    until: str
    shortest: int

    def to(self, since: int, until: int, **others: str) -> None:
        """Puts a stretch into the URL; the chart draws it. Ignores what is too short to draw.

        `others` are what else to put there.
        """
        if until - since >= self.shortest:
            # In one step, or the browser's Back would stop between the two.
            st.query_params.update({self.since: str(since), self.until: str(until), **others})

    def reset(self) -> None:
        """Takes the stretch out of the URL."""
        st.query_params.pop(self.since, None)
        st.query_params.pop(self.until, None)

    def stretch(self, whole: int, at_first: tuple[int, int] | None = None) -> tuple[int, int]:
        """The URL's stretch where it lies on an axis from 0 to `whole`, else `at_first`, or all."""
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
        """The text, which says what stretch is shown, and buttons that lead back to more of it."""
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


TIME = Zoom("from", "to", shortest=24)  # ns, of the timelines
TRACE = Zoom("since", "until", shortest=24)  # ns since the first event, of page Timeline
EVENT = "event"  # in the URL of that page: start and length of the selected event, ns, `12-3`
BESIDE = "beside"  # there too: another run, and its step
GAP = "gap"  # in the URL: where the ticked gap begins, ns since the start of the recording
MEMORY = Zoom("mfrom", "mto", shortest=2)  # ns or actions, of memory curves


def forget() -> None:
    """Takes stretches, moments and gaps out of the URL: they are of another run, device or step."""
    for stretch in (TIME, TRACE, MEMORY):
        stretch.reset()
    for key in ("at", EVENT, BESIDE, GAP):
        st.query_params.pop(key, None)


def described(since: int, until: int, whole: int) -> str:
    """The length of a stretch of time, its ends, and how long the whole is. All in ns."""
    length = until - since
    zoomed = length < whole
    ends = [
        formatting.position(at, length) if zoomed else formatting.duration(at)
        for at in (since, until)
    ]
    return (
        f"{formatting.duration(length)} from {ends[0]} to {ends[1]} of {formatting.duration(whole)}"
    )
