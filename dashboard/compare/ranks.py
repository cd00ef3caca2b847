"""The ranks of two runs side by side, if both runs have several."""

from typing import Any

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.compare import sections
from dashboard.compare.pair import Pair
from dashboard.drawing import formatting, tables
from dashboard.widgets import menu
from ingest.server import Section, reports, units

Row = dict[str, Any]


def has_rows(pair: Pair) -> bool:
    """Return whether both runs have several ranks."""
    return bool(_rows(_section(pair)))


def show(pair: Pair) -> None:
    """Show the worst ranks of both runs, and the ranks that both runs have."""
    section = _section(pair)
    rows = _rows(section)
    if not rows:
        return
    title = sections.TITLES[sections.RANKS]
    queries = {"ranks": section.query}
    menu.heading(title, queries, "rank-diff", help=section.note, anchor=sections.RANKS)
    names = (f"**{formatting.literal(pair.base)}**", f"**{formatting.literal(pair.other)}**")
    st.markdown("  \n".join(reports.rank_diff.sentences(rows, names)))
    both = reports.rank_diff.of_both(rows)
    if not both:
        return
    times = reports.rank_diff.TIMES
    shown = {
        "rank": [row["base_rank"] for row in both],
        "wall time": [_both(row, "wall") for row in both],
        "change_wall_ns": [row["change_wall_ns"] for row in both],
        "change_percent": [row["change_percent"] for row in both],
        **{label: [_both(row, time) for row in both] for time, label in times.items()},
    }
    tables.show(
        pd.DataFrame(shown),
        section.view,
        key=f"rank-diff-{pair.key}",
        labels={"change_wall_ns": "change", "change_percent": "change, %"},
        numbers=["wall time", *times.values()],
    )


def _section(pair: Pair) -> Section:
    return reports.rank_diff.section(pair.base, pair.other)


def _rows(section: Section) -> list[Row]:
    """Return the rows of `rank_diff`, with None for what is unknown."""
    frame = data.rows(section.query)
    found = frame.astype(object).where(frame.notna(), None).to_dict("records")
    ranks = ("base_rank", "other_rank")
    return [
        {**row, **{name: None if row[name] is None else int(row[name]) for name in ranks}}
        for row in found
    ]


def _both(row: Row, time: str) -> str:
    return units.before_and_after(row[f"base_{time}_ns"], row[f"other_{time}_ns"], "ns")
