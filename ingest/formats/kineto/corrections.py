"""Corrections of a trace's events: other forms of events, missing categories, wrong times."""

import duckdb

from ingest import sql
from ingest.formats.kineto.contents import Contents, contents_of
from ingest.formats.source import Source
from ingest.units import counted

FAR_NS = 3_600_000_000_000  # no step of a recording lasts an hour


def correct(connection: duckdb.DuckDBPyConnection, source: Source) -> list[Contents]:
    """Make pairs of a begin and an end complete events, and name missing categories.

    Events that `ingest export` put on further tracks get their threads back. Return what the trace
    then contains.
    """
    contents = contents_of(connection, source.source_id)
    if any(each.is_exported for each in contents):
        connection.execute(sql.query("rejoin_tracks"), {"source_id": source.source_id})
    if any(each.begins for each in contents):
        _pair_begins(connection, source)
        contents = contents_of(connection, source.source_id)
    if any(each.is_megengine for each in contents):
        source.framework = "megengine"
        connection.execute(sql.query("name_megengine_events"), {"source_id": source.source_id})
        contents = contents_of(connection, source.source_id)
    if uncategorised := sum(each.uncategorised for each in contents):
        _name_categories(connection, source, uncategorised)
        contents = contents_of(connection, source.source_id)
    return contents


def set_aside_outliers(
    connection: duckdb.DuckDBPyConnection, sources: list[Source], contents: list[Contents]
) -> None:
    """Take the time from events of each source that are hours away from all others."""
    first_ns = [each.first_ns for each in contents if each.first_ns is not None]
    last_ns = [each.last_ns for each in contents if each.last_ns is not None]
    if first_ns and max(last_ns) - min(first_ns) > FAR_NS:
        for source in sources:
            connection.execute(
                sql.query("set_aside_outliers"),
                {"source_id": source.source_id, "far_ns": FAR_NS},
            )


def _name_categories(
    connection: duckdb.DuckDBPyConnection, source: Source, uncategorised: int
) -> None:
    named = connection.execute(sql.query("name_categories"), {"source_id": source.source_id})
    if unread := uncategorised - named.fetchall()[0][0]:
        source.warn(
            "category_unknown",
            f"{counted(unread, 'event')} without a category, and of an unknown kind: not counted "
            "as operators, launches or device activities",
        )


def _pair_begins(connection: duckdb.DuckDBPyConnection, source: Source) -> None:
    of_source = {"source_id": source.source_id}
    pairs = sql.query("pair_begins")
    connection.execute(f"CREATE OR REPLACE TEMP TABLE pieces AS {pairs}", of_source)
    connection.execute(
        "DELETE FROM staged WHERE event_id IN (SELECT unnest([event_id, end_id]) FROM pieces)"
    )
    connection.execute(sql.query("parse"), of_source | {"has_literal_backslashes": False})
    connection.execute("DROP TABLE pieces")
