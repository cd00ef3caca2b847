"""Page Runs: what is in the store, and which of it the other pages are about."""

from dashboard.runs.page import page

__all__ = ["page"]
