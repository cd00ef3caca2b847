"""Page Trends: how the metrics of the runs changed over time."""

from dashboard.trends.page import page

__all__ = ["page"]
