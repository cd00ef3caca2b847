"""The breakdown of a change: rows by operator, kernel, module or class that add up to it."""

from typing import Any

import duckdb

from ingest import names
from ingest.comparison.comparison import Comparison

QUERIES = {
    "op": "SELECT * FROM op_diff($base, $other, $rank)",
    "kernel": "SELECT * FROM kernel_diff($base, $other, $rank)",
    "module": f"""
        SELECT * REPLACE (if(module = '', '{names.NO_MODULE}', module) AS name)
        FROM module_diff($base, $other, $rank)
    """,
    "class": """
        SELECT metric AS name, coalesce(base, 0) AS base_ns, coalesce(other, 0) AS other_ns,
            change AS change_ns, percent
        FROM run_diff($base, $other, $rank)
        WHERE metric IN ('compute', 'communication', 'copy', 'compiled_code', 'overlap')
            AND (coalesce(base, 0) <> 0 OR coalesce(other, 0) <> 0)
    """,
}


def rows_by(
    connection: duckdb.DuckDBPyConnection, comparison: Comparison, level: str
) -> list[dict[str, Any]]:
    """Return the rows of a level, the largest change first.

    A group is represented by its run with the median wall time. `base_ns`, `other_ns` and
    `change_ns` are times of the median step. Level `op` has the rows of `op_diff`, `kernel` those
    of `kernel_diff`, and `module` those of `module_diff`. `class` has the classes of `run_diff`
    and their overlap, which add up to the busy time.
    """
    params = {
        "base": comparison.base.run,
        "other": comparison.other.run,
        "rank": comparison.rank,
    }
    query = f"FROM ({QUERIES[level]}) ORDER BY abs(change_ns) DESC, base_ns DESC, name"
    return list(connection.sql(query, params=params).to_arrow_table().to_pylist())
