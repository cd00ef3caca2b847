"""A frame with another page of this server."""

from pathlib import Path

from dashboard.drawing import component

HERE = Path(__file__).parent


def show(address: str, title: str, height: int, key: str) -> None:
    """Show the page at an address in a frame; `height` is in pixels.

    Unlike with `st.iframe`, a new address adds no entry to the browser's history, so that Back
    leads to the previous page of the dashboard.
    """
    component.load(HERE, "frame", "frame").draw(
        key, data={"address": address, "title": title, "height": height}
    )
