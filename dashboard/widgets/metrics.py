"""Metrics at the top of a page."""

from typing import Any

import streamlit as st

from dashboard.widgets import formatting


def times(row: Any, devices: int = 1) -> None:
    """Span, busy and idle time of a row of `run_overview` or `device_totals`."""
    mean = "" if devices == 1 else f" (mean of {devices} devices)"
    st.metric(f"Span{mean}", formatting.duration(row.span_ns))
    st.metric(f"Busy{mean}", formatting.duration(row.busy_ns))
    with_share(f"Bubble{mean}", row.bubble_ns, formatting.percent(row.bubble_percent))


def with_share(label: str, ns: float, share: str) -> None:
    """A time with what share it is of something, in words."""
    st.metric(label, formatting.duration(ns), share, delta_color="off", delta_arrow="off")
