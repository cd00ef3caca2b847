"""A section of a report: a table with a title."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ingest.reports.query import Query


@dataclass(frozen=True)
class Section:
    """A table of a report, as data. Commands print it, and pages draw it.

    title   what the rows are
    view    the view or macro of the query's columns, which the data dictionary explains. The unit
            of a column follows from its name (`ingest.sql.column_unit`).
    query   returns the rows
    of      the parts of a heading that says what the rows are about: a run, a rank, a device
    totals  returns one row: the sums over all rows, or the whole that they are shares of
    note    explains the rows
    absent  says why there are no rows
    labels  headings of columns that are shorter or clearer than their names
    """

    title: str
    view: str
    query: Query
    of: tuple[str, ...] = ()
    totals: Query | None = None
    note: str = ""
    absent: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
