"""What a change is made of: rows by operator, kernel, module or class that add up to it."""

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
    """The rows of a level, the largest change first; of groups, of both sides' median runs.

    Times are of the median step, ns: `base_ns`, `other_ns`, `change_ns`. `op`: the rows of
    `op_diff`;
    `kernel`: of `kernel_diff`; `module`: of `module_diff`; `class`: the classes and their overlap,
    of `run_diff`, which add up to the busy time.
    """
    params = {
        "base": comparison.base.run,
        "other": comparison.other.run,
        "rank": comparison.rank,
    }
    query = f"FROM ({QUERIES[level]}) ORDER BY abs(change_ns) DESC, base_ns DESC, name"
    return list(connection.sql(query, params=params).to_arrow_table().to_pylist())
