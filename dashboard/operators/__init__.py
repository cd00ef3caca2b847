"""Page Operators: where the device's time went, by operator or kernel."""

from dashboard.operators.page import page

__all__ = ["page"]
