"""Page Modules: which nn.Modules take the time and the memory."""

from dashboard.modules.page import page

__all__ = ["page"]
