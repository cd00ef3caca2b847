"""Page Roofline."""

from dashboard.roofline.page import page

__all__ = ["page"]
