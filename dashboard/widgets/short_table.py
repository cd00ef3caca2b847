"""A few rows of names and figures as a dense table, with a bar behind each name."""

import html
from collections.abc import Sequence

import streamlit as st

from dashboard.widgets import formatting

NAME_WIDTH = 44  # characters


def show(
    names: Sequence[str], times_ns: Sequence[float], calls: Sequence[int], colour: str
) -> None:
    """A row for each name; the bars are as long as the times. A whole name shows on hover."""
    longest = max([1.0, *times_ns])
    rows = "".join(
        f'<tr><td title="{html.escape(name)}"><span style="width:{100 * ns / longest:.1f}%;'
        f'background:{colour}"></span><code>{html.escape(formatting.short_name(name, NAME_WIDTH))}'
        f"</code></td><td>{formatting.duration(ns)}</td><td>×{formatting.count(count)}</td></tr>"
        for name, ns, count in zip(names, times_ns, calls, strict=True)
    )
    st.html(f'<table class="short-table">{rows}</table>')
