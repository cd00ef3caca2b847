"""Values as SQL literals, where no parameter can be bound, or the query is to be read."""

from collections.abc import Sequence
from pathlib import Path

Scalar = str | Path | int | float | None


def literal(value: Scalar | Sequence[Scalar]) -> str:
    """The literal of a text, a path, a number, NULL (None), or a list of such."""
    if value is None:
        return "NULL"
    if isinstance(value, str | Path):
        return "'" + str(value).replace("'", "''") + "'"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(literal, value))}]"
    return repr(value)
