"""What `ingest sweep` and page Sweeps say: the variants of a sweep, tested against eager."""

from typing import Any

import duckdb

from ingest.comparison.rank_test import rank_test
from ingest.errors import MissingError
from ingest.reports.query import Query, select
from ingest.reports.section import Section

MAX_NAMED = 5


def tags() -> Query:
    """Return the query for the sweeps of a store, the latest first."""
    return select(
        "sweep",
        "sweep_results",
        group_by="sweep",
        order_by="max(ingested_at) DESC, sweep",
    )


def variants(tag: str) -> Section:
    """Return the variants of a sweep, in order."""
    return Section(
        "Variants",
        "sweep_results",
        select("*", "sweep_results", {"sweep": tag}, order_by="ordinal, variant"),
        (tag,),
        note="Times are medians over processes, without a profiler. p is from a rank test that "
        "compares the times of the processes with eager's. Differences are between the variant's "
        "output and eager's with the same seed. For eager, they are between its own processes.",
    )


def sweep_rows(connection: duckdb.DuckDBPyConnection, tag: str) -> list[dict[str, Any]]:
    """Return a sweep's rows of view `sweep_results`, in order, each with a p-value `p`.

    `p` comes from a rank test of the processes' times against those of the base. It is None for a
    base and if times are missing. Raise MissingError if the store has no such sweep.
    """
    rows = variants(tag).query.rows(connection)
    if not rows:
        raise MissingError(_no_sweep(connection, tag))
    for row in rows:
        base_ns, own_ns = row["base_image_ns"], row["process_image_ns"]
        tested = base_ns and own_ns and not row["is_base"]
        row["p"] = rank_test(base_ns, own_ns) if tested else None
    return rows


def _no_sweep(connection: duckdb.DuckDBPyConnection, tag: str) -> str:
    known = [row["sweep"] for row in tags().rows(connection)]
    if not known:
        return f"{tag}: no such sweep; the store has no sweeps (`capture sweep` makes one)"
    more = f" and {len(known) - MAX_NAMED:,} more" if len(known) > MAX_NAMED else ""
    return f"{tag}: no such sweep; the store has {', '.join(known[:MAX_NAMED])}{more}"
