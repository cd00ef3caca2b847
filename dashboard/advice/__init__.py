"""Page Advice: what could make a run faster, and by how much at most."""

from dashboard.advice.page import page

__all__ = ["page"]
