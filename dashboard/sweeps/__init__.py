"""Page Sweeps: the variants of a sweep, by time, memory and output."""

from dashboard.sweeps.page import page

__all__ = ["page"]
