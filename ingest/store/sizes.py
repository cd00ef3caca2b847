"""The sizes of the files of a store's runs, which tell whether an object is new (`may_have`)."""

from collections.abc import Sequence
from pathlib import Path

import duckdb

from ingest.store.storage import Storage


def sizes_of_runs(store: Storage, paths: Sequence[Path]) -> frozenset[int] | None:
    """Return the size of the files of each run, bytes. Return None if no path is an object."""
    if all(isinstance(path, Path) for path in paths):
        return None
    with duckdb.connect() as connection:
        store.create_views(connection)
        query = "SELECT coalesce(sum(bytes), 0) FROM sources GROUP BY run_id"
        rows = store.answer(str(store.path), lambda: connection.execute(query).fetchall())
    return frozenset(int(size) for (size,) in rows)
