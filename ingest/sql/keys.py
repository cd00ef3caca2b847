"""Foreign keys, as documented in the headers of the SQL files.

A column refers to a column of another relation if its description names that column, as in
`events.event_id`. `run_id` always refers to `runs` and `source_id` to `sources`, without a mention.
"""

import re
from typing import NamedTuple

from ingest.sql.loader import relations

QUALIFIED = re.compile(r"`(\w+)\.(\w+)`")


class Reference(NamedTuple):
    """A foreign key: the column's values refer to a column of another relation, within a run."""

    relation: str
    column: str
    target: str
    target_column: str


def key_references() -> tuple[Reference, ...]:
    """Return all references. Raise ValueError if a header names a column that does not exist."""
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
            raise ValueError(
                f"{reference.relation}.{reference.column} refers to "
                f"{reference.target}.{reference.target_column}, which does not exist"
            )
    return tuple(found)
