"""Page Runs: the runs in the store. Ticked runs are shown on the other pages."""

from dashboard.runs.page import page

__all__ = ["page"]
