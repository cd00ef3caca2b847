"""Page Compare: what changed from one run, or group of runs, to the other, and why."""

from dashboard.compare.page import page

__all__ = ["page"]
