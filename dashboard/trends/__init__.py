"""Page Trends: how the figures of the runs changed over time."""

from dashboard.trends.page import page

__all__ = ["page"]
