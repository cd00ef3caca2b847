"""Page Sweeps."""

from dashboard.sweeps.page import page

__all__ = ["page"]
