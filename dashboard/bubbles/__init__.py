"""Page Bubbles: when and why a device idled."""

from dashboard.bubbles.page import page

__all__ = ["page"]
