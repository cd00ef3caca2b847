"""Another page of this server in a frame."""

from pathlib import Path

from dashboard.drawing import component

HERE = Path(__file__).parent


def show(address: str, title: str, height: int, key: str) -> None:
    """The page at an address, in a frame of some pixels.

    Unlike `st.iframe`, another address is no step for the browser's Back, which belongs to the
    dashboard's own pages.
    """
    component.load(HERE, "frame", "frame")(
        key=key, data={"address": address, "title": title, "height": height}
    )
