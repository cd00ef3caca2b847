"""Page Timeline: what ran when, in Perfetto."""

from dashboard.timeline.page import page

__all__ = ["page"]
