"""What a trace contains, by process id. It shows which steps of reading the trace needs."""

from typing import NamedTuple

import duckdb


class Contents(NamedTuple):
    """The events with a process id; None is an id too. Times are relative to the trace's base.

    `names`: the names and labels of the process. `uncategorised`: the number of complete events
    without a category. `frames_end_ns`: the last end of a Python frame. `is_exported`: whether
    `ingest export` added events. `is_megengine`: whether MegEngine's Python profiler wrote them.
    `has_counters`: whether there may be values of counters.
    """

    pid: str | None
    names: list[str]
    begins: int
    uncategorised: int
    first_ns: int | None
    last_ns: int | None
    frames_end_ns: int | None
    has_activities: bool
    is_exported: bool
    is_megengine: bool
    has_counters: bool


def contents_of(connection: duckdb.DuckDBPyConnection, source_id: int) -> list[Contents]:
    """Return the contents of the events in table `staged`, ordered by process id."""
    rows = connection.execute(
        """
        SELECT
            pid,
            coalesce(list(DISTINCT CASE
                WHEN phase = 'M' AND name = 'process_name' THEN args ->> '$.args.name'
                WHEN phase = 'M' AND name = 'process_labels' THEN args ->> '$.args.labels'
            END), []),
            count(*) FILTER (phase IN ('B', 'b')),
            count(*) FILTER (side IS NOT NULL AND category IS NULL),
            min(relative_ns) FILTER (side IS NOT NULL),
            max(relative_ns) FILTER (side IS NOT NULL),
            max(relative_ns + dur_ns) FILTER (side IS NOT NULL AND category = 'python_function'),
            coalesce(bool_or(side IN ('host', 'device')), FALSE),
            coalesce(bool_or(category = 'tracehouse'), FALSE),
            coalesce(bool_or(category = 'KernelLaunch' AND phase = 's'), FALSE),
            coalesce(bool_or(phase = 'C' OR category = 'cuda_profiler_range'), FALSE)
        FROM staged
        WHERE source_id = $1
        GROUP BY pid
        ORDER BY pid
        """,
        [source_id],
    ).fetchall()
    return [Contents(pid, sorted(filter(None, names)), *facts) for pid, names, *facts in rows]
