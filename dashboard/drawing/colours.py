"""Colours of all pages, for the light and the dark theme. Each meaning has one colour.

Work has deep colours, and idle time pale ones. A search chose the colours of parts. They can be
distinguished from each other and from the page on both themes, with normal vision, protanopia,
deuteranopia and tritanopia. A test enforces this. Red marks metrics that became worse.
"""

import math
from functools import cache
from typing import NamedTuple

import streamlit as st

from ingest import server

# Parts of a step, in the order of `server.parts`: busy time; causes of idle time on the light and
# on the dark theme; the pipeline fill. The last two of each of the first three tuples are spare.
BUSY = ("#2A5CD6", "#EB8511", "#2F8F46", "#7504FA", "#8E3D73", "#0F004B", "#005A3C")
IDLE_ON_LIGHT = (
    *("#D685A0", "#B0946D", "#9F86EA", "#86EAAF", "#E3D963", "#EAA8F0", "#CED5DE"),
    *("#66C6CC", "#C9A2A0"),
)
IDLE_ON_DARK = (
    *("#B14368", "#B88A7A", "#9B89D2", "#22592B", "#726B1D", "#7D3894", "#6C8D9D"),
    *("#2B6E73", "#8A5A58"),
)
FILL = "#9A9A9A"
INKS = ("#2F2D2B", "#EDEBE8")
QUIET_INKS = ("#5C5854", "#B9B5AF")

# Sums of parts, or portions of a part: the part with the same colour, and the label.
OTHER_PARTS = {
    "exposed_communication": ("communication", "exposed communication"),
    "exposed_copy": ("copy", "exposed copy"),
    "idle": ("fill", "idle"),
}

# Statuses of an operator in the second of two runs: greens for less time, reds for more; blue and
# orange for fewer and more calls.
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

# What bounds an operator or kernel.
BOUNDS = {
    "compute": "#2A5CD6",
    "memory": "#EB8511",
    "launch": "#A15DB9",
    "neither": "#66707C",
    "unknown": "#C6C6C6",
}

RUNS = ("#2A5CD6", "#EB8511", "#2F8F46", "#824217", "#A15DB9", "#61CCF2", "#6B5478", "#868686")

# Owners of memory, by size at the peak. Unknown owners, and the sum of all others, are grey.
OWNERS = ("#2A5CD6", "#EB8511", "#2F8F46", "#A15DB9", "#61CCF2", "#824217", "#E7C26F", "#6B5478")
NEUTRAL = "#66707C"
UNKNOWN_OWNERS = ("#9A9A9A", NEUTRAL)
OTHERS = "#C6C6C6"


class Box(NamedTuple):
    """A kind of box in flame graphs. Colours are light, for dark text, on both themes."""

    label: str
    colour: str


BOXES = {  # the boxes of flame graphs, by category
    "module": Box("nn.Module", "#E9A04A"),
    "python_function": Box("Python", "#F8BF7A"),
    "cpu_op": Box("operator", "#9FC3F2"),
    "user_annotation": Box("annotation", "#C9CDD6"),
    "cuda_runtime": Box("runtime call", "#D9B8F0"),
    "cuda_driver": Box("driver call", "#C5A0E6"),
    "kernel": Box("kernel, copy or memset", "#9AD9B4"),
}
NO_BOXES = ("#DADCE0", "#7A808A")
BOX_EDGE, BOX_INK = "#FFFFFF", "#16181D"
MORE, LESS = "#E25C5C", "#6096EC"  # red and blue, for boxes that took more or less
ALARM = "#E0482E"
STATES = {
    "allocated": "#2A5CD6",
    "pending": "#9980FF",
    "stranded": "#EB8511",
    "free": "#C6C6C6",
}


def ink() -> str:
    """Return the colour of lines and text on the theme's background."""
    return INKS[_is_dark()]


def quiet_ink() -> str:
    """Return the colour of secondary text, for example axis labels."""
    return QUIET_INKS[_is_dark()]


def _is_dark() -> bool:
    return st.context.theme.type == "dark"


@cache
def _shown(parts: tuple[server.Part, ...], is_dark: bool) -> dict[str, tuple[str, str]]:
    """Return colour and label of each part, in stacking order, busy time first."""
    busy = [part for part in parts if part.is_idle is False]
    idle = [part for part in parts if part.is_idle]
    rest = [part for part in parts if part.is_idle is None]
    causes = IDLE_ON_DARK if is_dark else IDLE_ON_LIGHT
    coloured = [
        *((part, BUSY[index % len(BUSY)]) for index, part in enumerate(busy)),
        *((part, causes[index % len(causes)]) for index, part in enumerate(idle)),
        *((part, FILL) for part in rest),
    ]
    shown = {part.name: (colour, part.label) for part, colour in coloured}
    others = {name: (shown[like][0], label) for name, (like, label) in OTHER_PARTS.items()}
    return {**{part.name: shown[part.name] for part in busy}, **others, **shown}


def of(part: str, is_dark: bool | None = None) -> str:
    """Return the colour of a part of a step, by default on the page's theme."""
    return _shown(server.parts(), _is_dark() if is_dark is None else is_dark)[part][0]


def label(part: str) -> str:
    """Return the label of a part in legends. Labels of causes of idle time begin with "idle"."""
    return _shown(server.parts(), False)[part][1]


def place(part: str) -> int:
    """Return the position of a part in stacks, from 0."""
    return list(_shown(server.parts(), False)).index(part)


def no_box() -> str:
    """Return the colour of boxes without a category, and of boxes that a search does not find."""
    return NO_BOXES[_is_dark()]


def of_change(change: float, width: float) -> str:
    """Return the colour of a box of two runs: red if it took more, blue if it took less."""
    strength = math.sqrt(min(1.0, abs(change) / width)) if width else 0.0
    return between(NO_BOXES[0], MORE if change > 0 else LESS, strength)


def between(first: str, second: str, share: float) -> str:
    """Return a mix of two colours: the first for share 0, the second for share 1."""
    pairs = ((int(first[at : at + 2], 16), int(second[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(low + share * (high - low)):02X}" for low, high in pairs)


def part_of(metric: str) -> str:
    """Return the part of a metric of `run_diff`: `host` for `idle_host`."""
    return metric.removeprefix("idle_")


def order(parts: set[str]) -> list[str]:
    """Return the parts in stacking order."""
    return [part for part in _shown(server.parts(), False) if part in parts]
