"""The variants of a sweep, tested against eager."""

from typing import Any

import duckdb

from ingest.comparison.rank_test import rank_test
from ingest.errors import MissingError

MAX_NAMED = 5
Row = dict[str, Any]


def sweep_rows(connection: duckdb.DuckDBPyConnection, tag: str) -> list[Row]:
    """Return a sweep's rows of view `sweep_results`, in order, each with a p-value `p`.

    `p` comes from a rank test of the processes' times against those of the base. It is None for a
    base and if times are missing. Raise MissingError if the store has no such sweep.
    """
    found = connection.execute(
        "SELECT * FROM sweep_results WHERE sweep = $1 ORDER BY ordinal, variant", [tag]
    )
    names = [column[0] for column in found.description]
    rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    if not rows:
        raise MissingError(_no_sweep(connection, tag))
    for row in rows:
        base_ns, own_ns = row["base_image_ns"], row["process_image_ns"]
        tested = base_ns and own_ns and not row["is_base"]
        row["p"] = rank_test(base_ns, own_ns) if tested else None
    return rows


def _no_sweep(connection: duckdb.DuckDBPyConnection, tag: str) -> str:
    known = connection.execute(
        "SELECT sweep FROM sweep_results GROUP BY sweep ORDER BY max(ingested_at) DESC, sweep"
    ).fetchall()
    if not known:
        return f"{tag}: no such sweep; the store has no sweeps (`capture sweep` makes one)"
    listed = ", ".join(name for (name,) in known[:MAX_NAMED])
    more = f" and {len(known) - MAX_NAMED:,} more" if len(known) > MAX_NAMED else ""
    return f"{tag}: no such sweep; the store has {listed}{more}"
