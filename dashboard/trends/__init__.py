"""Page Trends: the metrics of the runs over time."""

from dashboard.trends.page import page

__all__ = ["page"]
