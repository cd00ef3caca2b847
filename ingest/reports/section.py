"""A part of a report."""

from dataclasses import dataclass

from ingest.reports.query import Query


@dataclass(frozen=True)
class Section:
    """The rows of a query, under a title. The names of the columns tell their units."""

    title: str
    query: Query
