"""The parts of a step, as `steps/macros/step_part_rules.sql` lists them."""

from functools import cache
from typing import NamedTuple

import duckdb

from ingest.sql import loader


class Part(NamedTuple):
    """A part of a step. `is_idle` is null before the first activity and after the last.

    `label` is its name in charts, `text` what it means, and `remedy` what to try against it.
    """

    name: str
    label: str
    is_idle: bool | None
    text: str
    remedy: str | None


@cache
def parts() -> tuple[Part, ...]:
    """All parts, in the order in which they are shown."""
    with duckdb.connect() as connection:
        for name in ("step_part_rules", "parts"):
            connection.execute(loader.files()[name].statement)
        rows = connection.execute(
            "SELECT part, label, is_idle, text, remedy FROM parts ORDER BY ordinal"
        ).fetchall()
    return tuple(Part(*row) for row in rows)
