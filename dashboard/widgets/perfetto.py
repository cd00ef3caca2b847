"""A frame that shows a trace in Perfetto.

`dashboard/app.py` mounts the routes, and `ingest/perfetto/server.py` answers them.
"""

import streamlit as st

from dashboard.drawing import frame

PATH = "/perfetto"


def prefix() -> str:
    """Return the path prefix of the routes that serve traces and Perfetto."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}{PATH}" if base else PATH


def show(query: str, height: int) -> None:
    """Show the trace for a query string of the route `view`; `height` is in pixels."""
    address = f"{prefix()}/view?{query}#{st.context.theme.type}"
    frame.show(address, "Perfetto", height, key="perfetto")
