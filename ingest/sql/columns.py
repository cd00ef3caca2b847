"""The meanings and units of columns."""

from ingest.sql.headers import counts
from ingest.sql.loader import files

SUFFIXES = {
    "_at": "moment",
    "_ns": "ns",
    "bytes": "bytes",
    "bytes_a_step": "bytes",
    "percent": "percent",
    "ordinal": "count",
    "gb_per_s": "GB/s",
    "bytes_per_s": "bytes/s",
    "_flo": "FLO",
    "flops": "FLO",
    "tflop_per_s": "TFLO/s",
    "tb_per_s": "TB/s",
    "flo_per_s": "FLO/s",
}


def column_meanings(relation: str) -> dict[str, str]:
    """Return what each column of a table, view or table macro means, by column name."""
    return files()[relation].documentation.columns


def column_unit(column: str) -> str | None:
    """Return the unit of a numeric column: a value of `SUFFIXES`; None if it has no unit.

    The unit follows from the column's name alone, in all relations and queries.
    """
    if column in counts():
        return "count"
    return next((unit for suffix, unit in SUFFIXES.items() if column.endswith(suffix)), None)
