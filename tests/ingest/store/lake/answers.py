"""The rows of relations of a store, for comparison."""

from collections.abc import Iterable
from pathlib import Path

import ingest

RELATIONS = ("runs", "run_overview", "run_metrics", "events", "kernels", "sources", "memory_events")


def rows(place: str | Path, relation: str) -> list[str]:
    """Return the rows of a relation, sorted."""
    with ingest.connect(place) as connection:
        return sorted(map(repr, connection.execute(f"FROM {relation}").fetchall()))


def all_rows(place: str | Path, relations: Iterable[str] = RELATIONS) -> dict[str, list[str]]:
    """Return the rows of some relations, by relation."""
    with ingest.connect(place) as connection:
        return {
            name: sorted(map(repr, connection.execute(f"FROM {name}").fetchall()))
            for name in relations
        }
