"""Page Bubbles: when and why a device was idle."""

from dashboard.bubbles.page import page

__all__ = ["page"]
