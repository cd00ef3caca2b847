"""Page Streams: queues, launches, copies and overlap on a device's streams."""

from dashboard.streams.page import page

__all__ = ["page"]
