"""The runs of one side of a comparison: one run, or all runs with a label."""

import duckdb

from ingest.errors import StoreError
from ingest.store.storage import Storage

GROUPS = ("model:", "name:", "tag:")


def runs_of(connection: duckdb.DuckDBPyConnection, store: Storage, selector: str) -> list[str]:
    """Return the ids of the runs that `selector` names, sorted.

    `tag:KEY=VALUE`, `tag:WORD` (a tag's key or value), `model:NAME` and `name:NAME` select all
    runs with that label. Anything else names one run, as in `Store.find`. Raise StoreError if no
    run matches, or if the name of one run is ambiguous.
    """
    if selector in GROUPS or not selector.startswith(GROUPS):
        return [store.find(selector)]
    found = connection.execute(
        "SELECT DISTINCT run_id FROM run_groups WHERE selector = $1 ORDER BY run_id", [selector]
    ).fetchall()
    if not found:
        raise StoreError(f"{selector}: no such runs in {store.path}; `ingest list` lists all runs")
    return [run_id for (run_id,) in found]
