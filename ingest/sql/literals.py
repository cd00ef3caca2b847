"""SQL literals, for queries that people read and for statements without parameters."""

from collections.abc import Sequence
from pathlib import Path

Scalar = str | Path | int | float | None


def literal(value: Scalar | Sequence[Scalar]) -> str:
    """Return the SQL literal of a text, a path, a number, None (NULL), or a list of these."""
    if value is None:
        return "NULL"
    if isinstance(value, str | Path):
        return "'" + str(value).replace("'", "''") + "'"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(literal, value))}]"
    return repr(value)
