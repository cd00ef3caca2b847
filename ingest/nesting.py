"""Depth and parent of spans on a thread, for spans that cross as well as those that nest."""

import duckdb


def nest(connection: duckdb.DuckDBPyConnection, spans: str, result: str) -> None:
    """Creates table `result` (span_id, lane, start_ns, end_ns, nest_end_ns, depth, parent_id).

    Where two spans cross, as a `ProfilerStep` does with the Python frame it opens in, torch ends
    the earlier one for nesting at the later one's start, and so does this (in `nest_end_ns`). The
    columns of `spans` are those that `load/nested.sql` names. Source of the rule:
    torch.autograd.profiler_util.
    """
    connection.execute(f"CREATE TABLE {result} AS FROM nested('{spans}')")
    while _shorten_crossed(connection, spans, result):
        lanes = "(SELECT DISTINCT lane FROM crossing)"
        connection.execute(f"DELETE FROM {result} WHERE lane IN {lanes}")
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE crossed AS SELECT * FROM {spans} WHERE lane IN {lanes}"
        )
        connection.execute(f"INSERT INTO {result} FROM nested('crossed')")
    connection.execute(f"ALTER TABLE {result} DROP COLUMN crosses")


def _shorten_crossed(connection: duckdb.DuckDBPyConnection, spans: str, result: str) -> bool:
    """Ends each crossed span at the start of the first span that outlasts it; whether any was."""
    connection.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE crossing AS
        SELECT span_id, lane, start_ns, end_ns FROM {result} WHERE crosses
        """
    )
    count = connection.execute("SELECT count(*) FROM crossing").fetchone()
    if count == (0,):
        return False
    connection.execute(
        f"""
        UPDATE {spans} AS span SET nest_end_ns = cut.at_ns
        FROM (
            SELECT crossed.span_id, min(crossing.start_ns) AS at_ns
            FROM {spans} AS crossed
            INNER JOIN crossing
                ON
                    crossed.lane = crossing.lane
                    AND crossed.start_ns < crossing.start_ns
                    AND crossed.nest_end_ns > crossing.start_ns
                    AND crossed.end_ns < crossing.end_ns
            GROUP BY crossed.span_id
        ) AS cut
        WHERE span.span_id = cut.span_id
        """
    )
    return True
