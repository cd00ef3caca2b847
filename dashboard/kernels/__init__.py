"""Page Kernels: kernels by launch shape, and how well they fill the device."""

from dashboard.kernels.page import page

__all__ = ["page"]
