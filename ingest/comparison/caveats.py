"""Warnings about differences between runs that make their metrics hard to compare."""

from collections.abc import Iterator
from dataclasses import dataclass

import duckdb

from ingest.comparison.sides import Side


@dataclass(frozen=True)
class Caveat:
    """A warning: the code of its subject, the subject's value in each run, and a sentence."""

    subject: str
    base: str | None
    other: str | None
    warning: str


def caveats(
    connection: duckdb.DuckDBPyConnection, base: Side, other: Side, names: tuple[str, str]
) -> Iterator[Caveat]:
    """Yield warnings about the two median runs, then about runs that differ from their side's.

    `names` are the names of the sides in the warnings.
    """
    yield from _differences(connection, base.run, other.run)
    for name, side in zip(names, (base, other), strict=True):
        different: dict[str, list[Caveat]] = {}
        for run in side.runs:
            for caveat in _differences(connection, side.run, run) if run != side.run else ():
                if caveat.base != caveat.other:
                    different.setdefault(caveat.subject, []).append(caveat)
        for subject, (first, *more) in different.items():
            runs = f"{1 + len(more)} of {len(side.runs)} runs of {name}"
            warning = f"{runs} differ from {side.run}: {first.warning}"
            yield Caveat(subject, first.base, first.other, warning)


def _differences(connection: duckdb.DuckDBPyConnection, base: str, other: str) -> list[Caveat]:
    rows = connection.sql(
        "SELECT subject, base, other, warning FROM comparability($1, $2)", params=[base, other]
    ).fetchall()
    return [Caveat(*row) for row in rows]
