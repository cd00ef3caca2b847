"""Page Overview: one run on one screen, where a run opens."""

from dashboard.overview.page import page

__all__ = ["page"]
