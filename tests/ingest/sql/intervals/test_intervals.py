"""Sums over spans and their parts in bins, against counts for each nanosecond."""

from collections import Counter
from collections.abc import Iterator

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest import sql

Span = tuple[str, int, int, int]  # lane, start, length, bytes
SPANS = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 60), st.integers(0, 20), st.integers(-5, 1000)),
    max_size=20,
)


@pytest.fixture(scope="module")
def macros() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection with the macros of intervals."""
    with duckdb.connect() as connection:
        for file in sql.files().values():
            if file.topic == "intervals":
                connection.execute(file.statement)
        yield connection


def create(connection: duckdb.DuckDBPyConnection, spans: list[Span]) -> None:
    """Create the table `spans` of two runs, which have the same spans."""
    connection.execute(
        "CREATE OR REPLACE TABLE spans "
        "(run_id VARCHAR, lane VARCHAR, start_ns BIGINT, end_ns BIGINT, n INTEGER, bytes BIGINT)"
    )
    rows = [
        [run, lane, start, start + length, 1, size]
        for run in ("r", "s")
        for lane, start, length, size in spans
    ]
    if rows:
        connection.executemany("INSERT INTO spans VALUES ($1, $2, $3, $4, $5, $6)", rows)


def test_swept_sums_what_runs_at_each_ns(macros: duckdb.DuckDBPyConnection) -> None:
    @given(SPANS)
    @settings(max_examples=60, deadline=None)
    def check(spans: list[Span]) -> None:
        create(macros, spans)
        names = ["start_ns", "end_ns", "begun", "n", "bytes"]
        rows = macros.sql("FROM swept('spans')").fetchall()
        assert macros.sql("FROM swept('spans')").columns[2:] == names
        edges = {(lane, at) for lane, start, ns, _ in spans for at in (start, start + ns)}
        assert sorted((run, lane, start) for run, lane, start, *_ in rows) == sorted(
            (run, *edge) for run in ("r", "s") for edge in edges
        )
        for _, lane, begin, end, begun, n, size in rows:
            ends = [at for of, at in edges if of == lane and at > begin]
            assert end == min(ends, default=None)
            assert begun == sum((of, at) == (lane, begin) for of, at, *_ in spans)
            running = [
                of_span
                for of, start, ns, of_span in spans
                if of == lane and start <= begin < start + ns
            ]
            assert (n, size) == (len(running), sum(running))

    check()


def test_a_span_without_a_number_adds_edges_only(macros: duckdb.DuckDBPyConnection) -> None:
    found = macros.sql(
        "WITH spans AS ("
        " SELECT 'r' AS run_id, 0 AS lane, 10 AS start_ns, 40 AS end_ns, 1 AS n UNION ALL BY NAME"
        " SELECT 'r' AS run_id, 0 AS lane, 0 AS start_ns, 20 AS end_ns)"
        "SELECT start_ns, end_ns, n FROM swept('spans') ORDER BY start_ns"
    ).fetchall()
    assert found == [(0, 10, 0), (10, 20, 1), (20, 40, 1), (40, None, 0)]


def test_bins_have_each_ns_of_each_span_once(macros: duckdb.DuckDBPyConnection) -> None:
    @given(SPANS, st.integers(-5, 40), st.integers(1, 50), st.integers(1, 9))
    @settings(max_examples=60, deadline=None)
    def check(spans: list[Span], since: int, length: int, bins: int) -> None:
        create(macros, spans)
        width = -(-length // bins)
        expected = Counter(
            (lane, size, (at - since) // width)
            for lane, start, ns, size in spans
            for at in range(start, start + ns)
            if since <= at < since + width * bins
        )
        found: Counter[tuple[str, int, int]] = Counter()
        for lane, size, number, start, end, ns in macros.execute(
            "SELECT lane, bytes, bin, start_ns, end_ns, part_ns FROM binned('spans', $1, $2, $3) "
            "WHERE run_id = 'r'",
            [since, since + length, bins],
        ).fetchall():
            assert (start, end) == (since + number * width, since + (number + 1) * width)
            assert ns > 0
            found[lane, size, number] += ns
        assert found == expected

    check()
