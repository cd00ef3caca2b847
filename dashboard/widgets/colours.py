"""One colour for each meaning, on every page, in light and dark.

Work is deep, and idle time pale: half of it is the page's background. Chosen by search so that
parts can be told apart with usual sight, protanopia, deuteranopia and tritanopia on both themes,
which a test checks. Red is for what became worse.
"""

from functools import cache

import streamlit as st

import ingest

# Parts of a step by their order in `ingest.parts`: busy time, and causes of idle time. The last two
# of each are spare.
BUSY = ("#2A5CD6", "#EB8511", "#2F8F46", "#7504FA", "#8E3D73", "#0F004B", "#005A3C")
IDLE = (
    *("#C32283", "#ECB693", "#9980FF", "#178217", "#8AE600", "#5C0099", "#2E00E6"),
    *("#868686", "#824217"),
)
GREY = "#9A9A9A"
PAPERS = ("#FFFFFF", "#0E1117")  # the backgrounds of the light and the dark theme

# Sums of parts, or what part of a part counts: the part that gives the colour, and the label.
OTHER_PARTS = {
    "exposed_communication": ("communication", "exposed communication"),
    "exposed_copy": ("copy", "exposed copy"),
    "bubble": ("lead", "bubble (idle)"),
}

# What became of an operator from one run to another: less time in greens, more in reds; blue and
# orange where it was called less or more often.
CHANGES = {
    "fused": "#0F766E",
    "faster": "#4FAE9F",
    "fewer_calls": "#5B8DEF",
    "only_base": "#A5D6CC",
    "same": "#9A9A9A",
    "more_calls": "#E08A2E",
    "slower": "#C2334D",
    "only_other": "#E79AA8",
}

RUNS = ("#2A5CD6", "#EB8511", "#2F8F46", "#824217", "#A15DB9", "#61CCF2", "#6B5478", "#868686")

# Owners of memory, by size at the peak; unknown ones, and all others together, in greys.
OWNERS = ("#2A5CD6", "#EB8511", "#2F8F46", "#A15DB9", "#61CCF2", "#824217", "#E7C26F", "#6B5478")
UNKNOWN_OWNERS = ("#9A9A9A", "#66707C")
OTHERS = "#C6C6C6"
ALARM = "#E0482E"
STATES = {
    "allocated": "#2A5CD6",
    "pending": "#9980FF",
    "stranded": "#EB8511",
    "free": "#C6C6C6",
}


def paper() -> str:
    """The theme's background."""
    return PAPERS[st.context.theme.type == "dark"]


def ink() -> str:
    """The colour of lines and text on the theme's background."""
    return "#FAFAFA" if st.context.theme.type == "dark" else "#31333F"


def pale(colour: str, ground: str) -> str:
    """A colour that half covers the ground. Both as `#RRGGBB`."""
    pairs = zip(bytes.fromhex(colour[1:]), bytes.fromhex(ground[1:]), strict=True)
    return "#" + bytes((over + under) // 2 for over, under in pairs).hex().upper()


@cache
def _shown(parts: tuple[ingest.Part, ...], ground: str) -> dict[str, tuple[str, str]]:
    """Colour and label of each part, in the order of stacks: busy time first."""
    busy = [part for part in parts if part.is_idle is False]
    idle = [part for part in parts if part.is_idle]
    rest = [part for part in parts if part.is_idle is None]
    coloured = [
        *((part, BUSY[place % len(BUSY)]) for place, part in enumerate(busy)),
        *((part, pale(IDLE[place % len(IDLE)], ground)) for place, part in enumerate(idle)),
        *((part, GREY) for part in rest),
    ]
    shown = {part.name: (colour, part.label) for part, colour in coloured}
    others = {name: (shown[like][0], label) for name, (like, label) in OTHER_PARTS.items()}
    return {**{part.name: shown[part.name] for part in busy}, **others, **shown}


def of(part: str, ground: str | None = None) -> str:
    """The colour of a part of a step on the theme's background, or on another ground."""
    return _shown(ingest.parts(), ground or paper())[part][0]


def label(part: str) -> str:
    """The name of a part as legends write it; causes of bubbles say that they are idle time."""
    return _shown(ingest.parts(), PAPERS[0])[part][1]


def place(part: str) -> int:
    """The place of a part in stacks, from 0."""
    return list(_shown(ingest.parts(), PAPERS[0])).index(part)


def part_of(metric: str) -> str:
    """The part that a metric of `run_diff` is about: `host` of `bubble_host`."""
    return metric.removeprefix("bubble_")


def order(parts: set[str]) -> list[str]:
    """Those of the parts that occur, in the order of stacks."""
    return [part for part in _shown(ingest.parts(), PAPERS[0]) if part in parts]
