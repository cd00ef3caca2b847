"""Page SQL: a read-only console over the tables and views."""

from dashboard.sql.page import page

__all__ = ["page"]
