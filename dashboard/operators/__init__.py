"""Page Operators: the device's time by operator or kernel."""

from dashboard.operators.page import page

__all__ = ["page"]
