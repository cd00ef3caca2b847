"""The clock that a trace of several ranks is on: the reference clock of its lowest rank."""

from collections.abc import Collection

from ingest.reports.query import Query


def of_ranks(run_id: str, ranks: Collection[int], at_ns: int | None) -> Query:
    """Return the query for how far the clocks of a trace's ranks are ahead of the trace's clock.

    `at_ns` is a Unix time, None for the middle of the collectives that set the clocks. A clock that
    cannot be compared is null, and so is that of a rank alone: its trace is on its own clock.
    """
    listed = ", ".join(f"${number}" for number, _ in enumerate(ranks, start=3))
    return Query(
        "SELECT rank, count(*) OVER () > 1\n"
        "AND reference_rank = first_value(reference_rank) OVER (ORDER BY rank) AS is_shared,\n"
        "if(is_shared, ahead_ns, NULL) AS ahead_ns,\n"
        "if(is_shared, uncertainty_ns, NULL) AS uncertainty_ns,\n"
        "if(is_shared, drift_ppm, NULL) AS drift_ppm\n"
        "FROM clocks_at($1, $2)\n"
        f"WHERE rank IN ({listed})",
        (run_id, at_ns, *ranks),
    )
