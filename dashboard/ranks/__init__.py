"""Page Ranks."""

from dashboard.ranks.page import page

__all__ = ["page"]
