"""What commands and pages say, as data: queries.

Nothing here prints or draws.
"""

from ingest.reports.query import Query, Scalar, Value, call, select

__all__ = ["Query", "Scalar", "Value", "call", "select"]
