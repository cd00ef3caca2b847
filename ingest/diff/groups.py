"""The runs that one side of a comparison names: one run, or all that a query finds."""

import duckdb

from ingest.errors import StoreError
from ingest.store import Store

QUERIES = {
    "model": "model = $value",
    "name": "name = $value",
    "tag": """
        CASE
            WHEN contains($value, '=') THEN
                tags[string_split($value, '=')[1]] = regexp_replace($value, '^[^=]*=', '')
            ELSE list_contains(map_keys(tags), $value) OR list_contains(map_values(tags), $value)
        END
    """,
}


def runs_of(connection: duckdb.DuckDBPyConnection, store: Store, words: str) -> list[str]:
    """The ids of the runs that `words` names, sorted.

    `tag:KEY=VALUE`, `tag:WORD` (a tag's key or value), `model:NAME` and `name:NAME` stand for all
    runs that have it; anything else names one run, as in `Store.find`. Raises StoreError where no
    run, or for a name more than one, fits.
    """
    kind, _, value = words.partition(":")
    if not value or kind not in QUERIES:
        return [store.find(words)]
    found = connection.execute(
        f"SELECT run_id FROM runs WHERE {QUERIES[kind]} ORDER BY run_id", {"value": value}
    ).fetchall()
    if not found:
        raise StoreError(f"{words}: no run in {store.path} has that; see `ingest list`")
    return [run_id for (run_id,) in found]
