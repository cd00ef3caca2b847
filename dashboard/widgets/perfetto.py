"""Perfetto in a page: a frame that shows a trace."""

import streamlit as st

from dashboard.drawing import frame

PATH = "/perfetto"


def prefix() -> str:
    """Where the routes are that serve traces and Perfetto."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}{PATH}" if base else PATH


def show(query: str, height: int) -> None:
    """The trace that a query of `view` asks for, in a frame of some pixels."""
    frame.show(f"{prefix()}/view?{query}", "Perfetto", height, key="perfetto")
