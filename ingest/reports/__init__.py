"""What commands and pages say, as data: queries, alone or as sections of a report.

Nothing here prints or draws.
"""

from ingest.reports.query import Query, Scalar, Value, call, select
from ingest.reports.section import Section

__all__ = ["Query", "Scalar", "Section", "Value", "call", "select"]
