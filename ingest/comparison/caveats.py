"""What else differs between runs than what is to be compared."""

from collections.abc import Iterator
from dataclasses import dataclass

import duckdb

from ingest.comparison.sides import Side


@dataclass(frozen=True)
class Caveat:
    """A warning: its subject, what the runs have of it where that is known, and a sentence."""

    subject: str
    base: str | None
    other: str | None
    warning: str


def caveats(
    connection: duckdb.DuckDBPyConnection, base: Side, other: Side, names: tuple[str, str]
) -> Iterator[Caveat]:
    """What differs between the sides' median runs, then between those and the runs beside them."""
    yield from _differences(connection, base.run, other.run)
    for name, side in zip(names, (base, other), strict=True):
        unlike: dict[str, list[Caveat]] = {}
        for run in side.runs:
            for found in _differences(connection, side.run, run) if run != side.run else ():
                unlike.setdefault(found.subject, []).append(found)
        for subject, (first, *more) in unlike.items():
            runs = f"{1 + len(more)} of {len(side.runs)} runs of {name}"
            said = f"{runs} against {side.run}: {first.warning}"
            yield Caveat(subject, first.base, first.other, said)


def _differences(connection: duckdb.DuckDBPyConnection, base: str, other: str) -> list[Caveat]:
    rows = connection.sql(
        "SELECT subject, base, other, warning FROM comparability($1, $2)", params=[base, other]
    ).fetchall()
    return [Caveat(*row) for row in rows]
