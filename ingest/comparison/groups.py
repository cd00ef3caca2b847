"""The runs that one side of a comparison names: one run, or all that a query finds."""

import duckdb

from ingest.errors import StoreError
from ingest.store.store import Store

GROUPS = ("model:", "name:", "tag:")


def runs_of(connection: duckdb.DuckDBPyConnection, store: Store, selector: str) -> list[str]:
    """The ids of the runs that `selector` names, sorted.

    `tag:KEY=VALUE`, `tag:WORD` (a tag's key or value), `model:NAME` and `name:NAME` stand for all
    runs that have it; anything else names one run, as in `Store.find`. Raises StoreError where no
    run, or for a name more than one, fits.
    """
    if selector in GROUPS or not selector.startswith(GROUPS):
        return [store.find(selector)]
    found = connection.execute(
        "SELECT DISTINCT run_id FROM run_groups WHERE selector = $1 ORDER BY run_id", [selector]
    ).fetchall()
    if not found:
        raise StoreError(f"{selector}: no run in {store.path} has that; see `ingest list`")
    return [run_id for (run_id,) in found]
