"""Page Modules: nn.Modules by their time and memory."""

from dashboard.modules.page import page

__all__ = ["page"]
