"""Depth, parents and self time, compared with torch's rule, written with a stack."""

from collections.abc import Iterator
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest import sql
from ingest.conversion import nest
from tests.builders.events import host, kernel
from tests.builders.relations import built

Span = tuple[int, int, int]  # start, length, lane
SPANS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 20), st.integers(1, 2)), min_size=1, max_size=25
)


def stack_rule(spans: list[Span]) -> dict[int, tuple[int, int | None]]:
    """Return depth and parent of each span by the rule of torch.autograd.profiler_util."""
    found: dict[int, tuple[int, int | None]] = {}
    for lane in {span[2] for span in spans}:
        order = sorted(
            (start, -(start + length), number)
            for number, (start, length, on) in enumerate(spans)
            if on == lane
        )
        stack: list[tuple[int, int]] = []  # end, number
        for start, negative_end, number in order:
            while stack and (start >= stack[-1][0] or -negative_end > stack[-1][0]):
                stack.pop()
            found[number] = (len(stack), stack[-1][1] if stack else None)
            stack.append((-negative_end, number))
    return found


def nested(
    connection: duckdb.DuckDBPyConnection, spans: list[Span]
) -> dict[int, tuple[int, int | None]]:
    """Return depth and parent of each span, from the table that `nest` fills."""
    starts, lengths, lanes = map(list, zip(*spans, strict=True))
    connection.execute(
        "CREATE OR REPLACE TABLE spans AS SELECT unnest($3)::INTEGER AS lane, "
        "unnest(range($4)) AS event_id, unnest($1)::BIGINT AS start_ns, "
        "start_ns + unnest($2)::BIGINT AS end_ns, 0::BIGINT AS event_index",
        [starts, lengths, lanes, len(spans)],
    )
    connection.execute("DROP TABLE IF EXISTS op_nest")
    connection.execute(sql.files()["op_nest"].statement)
    nest.nest(connection, ("spans",), ("op_nest",))
    rows = connection.sql("SELECT event_id, depth, parent_id FROM op_nest").fetchall()
    return {number: (depth, parent) for number, depth, parent in rows}


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty database."""
    with duckdb.connect() as opened:
        yield opened


def test_spans_nest_by_the_rules_of_torch(connection: duckdb.DuckDBPyConnection) -> None:
    @given(SPANS)
    @settings(max_examples=50, deadline=None)
    def check(spans: list[Span]) -> None:
        assert nested(connection, spans) == stack_rule(spans)

    check()


def nested_in_batches(spans: list[Span], names: list[int], rows: int) -> dict[int, dict[str, Any]]:
    """Return the columns of each span by its number. `rows`: size of the batches."""
    numbered = [
        (lane, start, start + length, n, names[n], 0)
        for n, (start, length, lane) in enumerate(spans)
    ]
    numbered.sort(key=lambda row: (row[0], row[1], -row[2], row[3]))
    columns = zip(
        ("lane", "start_ns", "end_ns", "event_id", *nest.NAMES),
        zip(*numbered, strict=True),
        strict=True,
    )
    [whole] = pa.table(dict(columns)).combine_chunks().to_batches()
    batches = [whole.slice(first, rows) for first in range(0, len(numbered), rows)]
    return {
        row["event_id"]: row
        for batch in nest.nested(batches, pa.schema([*whole.schema, *nest.RESULT_FIELDS]))
        for row in batch.to_pylist()
    }


@given(SPANS, st.integers(1, 7))
@settings(max_examples=200, deadline=None)
def test_the_result_does_not_depend_on_batch_boundaries(spans: list[Span], rows: int) -> None:
    result = nested_in_batches(spans, [0] * len(spans), rows)
    expected = stack_rule(spans)
    assert {n: (row["depth"], row["parent_id"]) for n, row in result.items()} == expected
    # The innermost span at each time: each nanosecond of a lane belongs to at most one span.
    for lane in {span[2] for span in spans}:
        mine = [row for n, row in result.items() if spans[n][2] == lane]
        covered = {
            moment
            for start, length, on in spans
            for moment in range(start, start + length)
            if on == lane
        }
        assert sum(row["self_ns"] for row in mine) == len(covered)
        assert min(row["self_ns"] for row in mine) >= 0


@given(SPANS, st.lists(st.integers(0, 3), min_size=25, max_size=25), st.integers(1, 7))
@settings(max_examples=200, deadline=None)
def test_the_path_of_a_call_is_made_of_names(
    spans: list[Span], names: list[int], rows: int
) -> None:
    """A span without a name is not a call: calls inside it belong to the call around it."""
    parents = {number: parent for number, (_, parent) in stack_rule(spans).items()}

    def caller(number: int) -> int | None:
        around = parents[number]
        while around is not None and not names[around]:
            around = parents[around]
        return around

    def path(number: int | None) -> tuple[int, ...]:
        if number is None:
            return ()
        return (*path(caller(number)), *([names[number]] if names[number] else []))

    result = nested_in_batches(spans, names, rows)
    ids = {(path(n), row["path_id"]) for n, row in result.items()}
    ids |= {(path(caller(n)), row["caller_path_id"]) for n, row in result.items()}
    assert len(ids) == len({path for path, _ in ids}) == len({path_id for _, path_id in ids})
    assert all((path_id == 0) == (path == ()) for path, path_id in ids)
    for number, row in result.items():
        inside = [n for n in result if names[n] and caller(n) == number]
        assert row["is_recursive"] == (names[number] in path(number)[:-1])
        if names[number]:
            assert row["inner_ns"] == sum(spans[n][1] for n in inside)
            assert row["repeats"] == ([names[n] for n in inside] == [names[number]])


def test_spans_that_cross_are_siblings(connection: duckdb.DuckDBPyConnection) -> None:
    # A ProfilerStep begins inside a Python frame that ends first.
    frame, step, op, later = (0, 10, 1), (5, 90, 1), (20, 10, 1), (96, 5, 1)
    assert nested(connection, [frame, step, op, later]) == {
        0: (0, None),
        1: (0, None),
        2: (1, 1),
        3: (0, None),
    }


def test_many_crossing_spans_are_nested(connection: duckdb.DuckDBPyConnection) -> None:
    stairs = [(i * 2, 3, 1) for i in range(300)]
    assert set(nested(connection, stairs).values()) == {(0, None)}


def test_seven_hundred_levels_are_nested(connection: duckdb.DuckDBPyConnection) -> None:
    tower = [(i, 2000 - 2 * i, 1) for i in range(700)]
    found = nested(connection, tower)
    assert found[699] == (699, 698)
    assert found == stack_rule(tower)


def test_self_times_of_a_thread_add_up_to_its_busy_time(store_of_samples: Any) -> None:
    threads = store_of_samples.sql(
        """
        WITH spans AS (
            SELECT
                *, start_ns + dur_ns AS end_ns, coalesce(max(start_ns + dur_ns) OVER (
                    PARTITION BY run_id, pid, tid ORDER BY start_ns
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ), start_ns) AS reached_ns
            FROM events
            WHERE self_ns IS NOT NULL
        )

        SELECT
            run_id, pid, tid, sum(self_ns), min(self_ns),
            sum(greatest(0, end_ns - greatest(start_ns, reached_ns))) AS busy_ns
        FROM spans
        GROUP BY run_id, pid, tid
        """
    ).fetchall()
    assert len(threads) > 20
    for *thread, own, least, busy in threads:
        assert own == busy, thread
        assert least >= 0, thread


def test_parents_contain_their_children(store_of_samples: Any) -> None:
    wrong = store_of_samples.sql(
        """
        SELECT child.run_id, child.name, parent.name
        FROM events AS child
        JOIN events AS parent ON child.run_id = parent.run_id AND child.parent_id = parent.event_id
        WHERE child.start_ns < parent.start_ns
            OR child.start_ns + child.dur_ns > parent.start_ns + parent.dur_ns
            OR child.depth <> parent.depth + 1 OR child.tid <> parent.tid
        """
    )
    assert wrong.fetchall() == []


def test_ops_have_their_device_time_and_module() -> None:
    connection = built(
        [
            host("ProfilerStep#3", "user_annotation", 0, 100),
            host("nn.Module: Linear_0", "python_function", 1, 80),
            host("aten::linear", "cpu_op", 10, 60, {"Input Dims": [[2, 3], []]}),
            host("aten::mm", "cpu_op", 20, 30, {"Sequence number": 5}),
            host("cudaLaunchKernel", "cuda_runtime", 30, 5, {"correlation": 1}),
            host("cudaLaunchKernel", "cuda_runtime", 55, 5, {"correlation": 2}),
            kernel("gemm", 40, 9, correlation=1),
            kernel("bias", 60, 4, correlation=2),
        ]
    )
    rows = connection.sql(
        "SELECT name, depth, self_ns, device_ns, self_device_ns, input_dims, sequence, module, "
        "step FROM ops ORDER BY start_ns"
    ).fetchall()
    assert rows == [
        ("ProfilerStep#3", 0, 40_000, 13_000, None, None, None, None, 3),
        ("aten::linear", 1, 30_000, 13_000, 4_000, "[[2,3],[]]", None, "nn.Module: Linear_0", 3),
        ("aten::mm", 2, 30_000, 9_000, 9_000, None, 5, "nn.Module: Linear_0", 3),
    ]
    kernels = connection.sql("SELECT name, op, top_op, step FROM kernels ORDER BY start_ns")
    assert kernels.fetchall() == [
        ("gemm", "aten::mm", "aten::linear", 3),
        ("bias", "aten::linear", "aten::linear", 3),
    ]


def test_a_call_of_a_runtime_is_inside_the_frame_that_lasts_as_long() -> None:
    args = {"Python id": 1, "Ev Idx": 5}
    events = [
        host("cudaDeviceSynchronize", "cuda_runtime", 10, 20),
        host("<built-in function synchronize>", "python_function", 10, 20, args),
    ]
    for ordered in (events, events[::-1]):
        rows = built(ordered).sql("SELECT name, depth FROM events ORDER BY depth").fetchall()
        assert rows == [("<built-in function synchronize>", 0), ("cudaDeviceSynchronize", 1)]
