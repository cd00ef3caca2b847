"""The parts of a step, from `steps/macros/step_part_rules.sql`."""

from functools import cache
from typing import NamedTuple

import duckdb

from ingest.sql import loader


class Part(NamedTuple):
    """A part of a step's time.

    `is_idle` is None for the pipeline fill. `label` is the part's name in charts, and `text` its
    meaning.
    """

    name: str
    label: str
    is_idle: bool | None
    text: str


@cache
def parts() -> tuple[Part, ...]:
    """Return all parts, in display order."""
    with duckdb.connect() as connection:
        for name in ("step_part_rules", "remedy_text", "parts"):
            connection.execute(loader.files()[name].statement)
        rows = connection.execute(
            "SELECT part, label, is_idle, text FROM parts ORDER BY ordinal"
        ).fetchall()
    return tuple(Part(*row) for row in rows)
