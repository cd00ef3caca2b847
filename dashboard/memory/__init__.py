"""Page Memory: what held the device's memory, and when."""

from dashboard.memory.page import page

__all__ = ["page"]
