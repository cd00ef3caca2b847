"""Flame graphs as self-contained SVG files, with zoom and search.

Graphs grow downwards: a frame is above the frames that it contains.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from html import escape
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from ingest.units import printable

WIDTH, ROW, MARGIN, TOP = 1200, 18, 10, 56  # px
LETTER = 7.2  # width of a letter, px
NARROWEST = 0.1  # px, as in flamegraph.pl; narrower frames are not drawn
LONGEST_NAME = 300
SCRIPT = Path(__file__).parent / "flamegraph.js"
NOT_XML = re.compile(r"[\ufffe\uffff\ud800-\udfff]")

# Light enough for dark letters. Everyone can tell orange from blue. Each colour has three tones, so
# that neighbours differ.
TONES = {
    "python": ("#f8bf7a", "#f3ae5c", "#fbd19d"),
    "native": ("#9fc3f2", "#86b2ec", "#bad5f7"),
    "memory": ("#c9cdd6", "#bcc1cc", "#d6d9e0"),
}
PYTHON = re.compile(r"\.py[cx]?:\d*:?|^<ipython")
MEMORY = re.compile(r"(stream|seg)_-?\d+|active_\w+|inactive|all|<gaps>|<non-python>")

STYLE = """
svg { background: #fff; font: 12px ui-monospace, Menlo, Consolas, monospace; }
text { fill: #16181d; }
g.frame { cursor: pointer; }
g.frame rect { stroke: #fff; stroke-width: .5; }
g.frame text { pointer-events: none; }
g.frame:hover rect { stroke: #000; stroke-width: 1; }
g.outer { opacity: .55; }
g.hidden { display: none; }
svg.searched g.frame:not(.found) rect { fill: #e4e6ea; }
#search { cursor: pointer; text-decoration: underline; }
.head { font: 15px system-ui, sans-serif; }
@media (prefers-color-scheme: dark) {
  svg { background: #0e1117; }
  .label { fill: #e8eaee; }
  g.frame rect { stroke: #0e1117; }
  g.frame:hover rect { stroke: #fff; }
  svg.searched g.frame:not(.found) rect { fill: #6d727c; }
}
"""


class Frame(NamedTuple):
    """A box: its id, its caller's id, its name, and its weight including the boxes inside it."""

    id: str
    caller_id: str | None
    name: str
    weight: int


def render(frames: Iterable[Frame], title: str, unit: Callable[[int], str]) -> str:
    """Return the flame graph (SVG) of the frames. `unit` formats a weight for people.

    A frame's width is its share of the total weight. Frames with one caller are sorted by weight,
    the heaviest first.
    """
    inside: dict[str | None, list[Frame]] = {}
    for frame in frames:
        inside.setdefault(frame.caller_id, []).append(frame)
    total = sum(frame.weight for frame in inside.get(None, []))
    boxes, depth = _placed(inside, total, unit)
    height = TOP + depth * ROW + MARGIN
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" data-total="{total}" data-row="{ROW}" '
            f'data-margin="{MARGIN}" data-letter="{LETTER}">',
            f"<title>{_text(title)}</title>",
            f"<style>{STYLE}</style>",
            f'<text class="label head" x="{MARGIN}" y="22">{_text(title)}</text>',
            f'<text class="label" id="status" x="{MARGIN}" y="43">'
            "Click a frame to zoom in. Click a frame above it to zoom out.</text>",
            f'<text class="label" id="search" x="{WIDTH - MARGIN}" y="22" text-anchor="end">'
            "Search</text>",
            *boxes,
            f"<script><![CDATA[\n{SCRIPT.read_text(encoding='utf-8')}]]></script>",
            "</svg>\n",
        ]
    )


def _placed(
    inside: Mapping[str | None, list[Frame]], total: int, unit: Callable[[int], str]
) -> tuple[list[str], int]:
    """Return the boxes as SVG, outer ones first, and the depth of the deepest box."""
    scale = (WIDTH - 2 * MARGIN) / total
    shown: list[str] = []
    deepest = 0
    root = Frame("", None, "all", total)
    waiting = [(root, 0, 0)]  # a frame, its depth, the weight to its left
    while waiting:
        frame, depth, left = waiting.pop()
        deepest = max(deepest, depth + 1)
        shown.append(_svg(frame, depth, left, total, scale, unit))
        inner = inside.get(None if frame is root else frame.id, [])
        for each in sorted(inner, key=lambda frame: (-frame.weight, frame.name)):
            if each.weight * scale >= NARROWEST:
                waiting.append((each, depth + 1, left))
            left += each.weight
    return shown, deepest


def _svg(
    frame: Frame, depth: int, left: int, total: int, scale: float, unit: Callable[[int], str]
) -> str:
    x, y, width = MARGIN + left * scale, TOP + depth * ROW, frame.weight * scale
    name = printable(frame.name, LONGEST_NAME)
    letters = int((width - 6) / LETTER)
    label = "" if letters < 3 else name if len(name) <= letters else f"{name[: letters - 1]}…"
    share = 100 * frame.weight / total
    return (
        f'<g class="frame" data-d="{depth}" data-x="{left}" data-w="{frame.weight}">'
        f"<title>{_text(name)}\n{unit(frame.weight)}, {frame.weight:,} bytes, {share:.2f}%</title>"
        f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{ROW - 1}" fill="{_tone(name)}"/>'
        f'<text x="{x + 3:.2f}" y="{y + ROW - 5}">{_text(label)}</text></g>'
    )


def _tone(name: str) -> str:
    kind = "memory" if MEMORY.fullmatch(name) else "python" if PYTHON.search(name) else "native"
    return TONES[kind][crc32(name.encode(errors="replace")) % 3]


def _text(text: str) -> str:
    """Escape a text for an XML element. Characters that XML forbids are replaced."""
    return escape(NOT_XML.sub("�", text))
