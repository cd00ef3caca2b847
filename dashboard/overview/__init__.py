"""Page Overview: a summary of one run. Runs open on this page."""

from dashboard.overview.page import page

__all__ = ["page"]
