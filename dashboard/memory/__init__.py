"""Page Memory: what held device memory, and when."""

from dashboard.memory.page import page

__all__ = ["page"]
