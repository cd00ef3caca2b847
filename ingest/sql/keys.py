"""Which columns refer to which, as the headers of the SQL files say it.

A column refers to a column of another relation if its meaning names that one: `events.event_id`.
`run_id` refers to `runs` and `source_id` to `sources` in every relation, without saying so.
"""

import re
from typing import NamedTuple

from ingest.sql.loader import relations

QUALIFIED = re.compile(r"`(\w+)\.(\w+)`")


class Reference(NamedTuple):
    """A column whose values are those of a column of another relation, within a run."""

    relation: str
    column: str
    target: str
    target_column: str


def key_references() -> tuple[Reference, ...]:
    """All references. Raises ValueError where a header names a column that a relation lacks."""
    columns = {file.name: file.documentation.columns for file in relations()}
    found = [
        Reference(relation, column, target, target_column)
        for relation, meanings in columns.items()
        for column, meaning in meanings.items()
        for target, target_column in QUALIFIED.findall(meaning)
        if target in columns
    ]
    for reference in found:
        if reference.target_column not in columns[reference.target]:
            raise ValueError(f"{reference.relation}.{reference.column}: {reference}: no such key")
    return tuple(found)
