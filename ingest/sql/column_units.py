"""The units of columns."""

from ingest.sql.headers import counts

SUFFIXES = {
    "_at": "moment",
    "_ns": "ns",
    "bytes": "bytes",
    "percent": "percent",
    "gb_per_s": "GB/s",
    "bytes_per_s": "bytes/s",
    "_flo": "FLO",
    "flo_per_s": "FLO/s",
}


def column_unit(column: str) -> str | None:
    """Return the unit of a column: a value of `SUFFIXES`, or `count`; None if it has no unit.

    The unit follows from the column's name alone, in all relations and queries.
    """
    if column in counts():
        return "count"
    return next((unit for suffix, unit in SUFFIXES.items() if column.endswith(suffix)), None)
