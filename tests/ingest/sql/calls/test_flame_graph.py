"""The boxes of a flame graph, from calls and from complete stacks."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

import ingest

CALLS = """
    CREATE TEMP TABLE calls AS FROM (VALUES
        ('m', 'not here', 'main', NULL, 5, 1),
        ('a', 'm', 'a', NULL, 10, 20),
        ('b', 'm', 'b', NULL, 1, 2),
        ('c', 'm', 'c', NULL, 2, 0),
        ('d', 'c', 'd', NULL, -7, NULL)
    ) AS calls(id, caller_id, name, category, value, base_value)
"""


@pytest.fixture
def connection(tmp_path: Path) -> Any:
    with ingest.connect(tmp_path / "store") as connection:
        yield connection


def boxes(connection: duckdb.DuckDBPyConnection, arguments: str) -> list[tuple[Any, ...]]:
    return connection.execute(
        "SELECT name, caller_id, self_value, total_value, total_base, width "
        f"FROM flame_graph({arguments}) ORDER BY width DESC, height DESC"
    ).fetchall()


def test_a_call_includes_its_inner_calls_and_the_smallest_share_a_box(connection: Any) -> None:
    """Negative values count as 0. With two runs, the larger value sets the width of each call."""
    connection.execute(CALLS)
    assert boxes(connection, "'calls', most := 2") == [
        ("main", None, 5, 18, 23, 29),
        ("a", "m", 10, 10, 20, 20),
        ("(other)", "m", None, 3, 2, 4),
    ]
    assert boxes(connection, "'calls', from_id := 'c'") == [("c", None, 2, 2, 0, 2)]


def test_a_chain_of_calls_is_cut_at_its_inner_end(connection: Any) -> None:
    """A box is never shown without its callers, even if all are equally wide."""
    connection.execute(
        "CREATE TEMP TABLE calls AS SELECT chr((97 + n)::INTEGER) AS id, "
        "if(n > 0, chr((96 + n)::INTEGER), NULL) AS caller_id, id AS name, NULL AS category, "
        "(n = 9)::BIGINT AS value, NULL::BIGINT AS base_value FROM range(10) AS _(n)"
    )
    assert [row[:2] for row in boxes(connection, "'calls', most := 3")] == [
        *(("a", None), ("b", "a"), ("c", "b")),
        ("(other)", "c"),
    ]


def test_stacks_with_the_same_outer_frames_share_boxes(connection: Any) -> None:
    connection.execute(
        "CREATE TEMP TABLE stacks AS FROM (VALUES (['x', 'y'], 3), (['x', 'z'], 4), (['x'], 1)) "
        "AS stacks(frames, value), (SELECT NULL::BIGINT AS base_value)"
    )
    connection.execute("CREATE TEMP TABLE calls AS FROM calls_of_stacks('stacks')")
    assert [(row[0], *row[2:4]) for row in boxes(connection, "'calls'")] == [
        ("x", 1, 8),
        ("z", 4, 4),
        ("y", 3, 3),
    ]


@pytest.mark.parametrize("column", ["self_ns", "self_device_ns", "self_idle_ns"])
def test_the_boxes_of_a_real_run_add_up(sample_store: Path, column: str) -> None:
    with ingest.connect(sample_store) as connection:
        (run,) = connection.execute("SELECT run_id FROM runs WHERE name = 'h100_owlv2'").fetchall()[
            0
        ]
        connection.execute(
            "CREATE TEMP TABLE calls AS SELECT id, caller_id, name, category, "
            f"{column} AS value, NULL::BIGINT AS base_value FROM call_stacks($1)",
            [run],
        )
        rows = connection.execute(
            "SELECT id, caller_id, self_value, total_value FROM flame_graph('calls', most := 100)"
        ).fetchall()
        inside = dict.fromkeys((row[1] for row in rows), 0.0)
        for row in rows:
            inside[row[1]] += row[3]
        (total_ns,) = connection.execute(
            "SELECT sum(greatest(value, 0)) FROM "
            "(SELECT sum(value) AS value FROM calls GROUP BY id)"
        ).fetchall()[0]
        assert inside[None] == total_ns
        shown = [row for row in rows if row[0] is not None]
        assert len(shown) == 100
        assert all(total == own + inside.get(id, 0) for id, _, own, total in shown)
