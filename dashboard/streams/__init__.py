"""Page Streams: what waited for what on a device's streams."""

from dashboard.streams.page import page

__all__ = ["page"]
