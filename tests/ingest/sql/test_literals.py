"""Values as SQL literals."""

from pathlib import Path

import duckdb
import pytest

import ingest


@pytest.mark.parametrize(
    "value", [None, "", "it's", "'; DROP VIEW runs; --", 3, -2.5, 1e300, ["a'", "b"], [1, 2], []]
)
def test_a_literal_evaluates_to_its_value(value):
    assert duckdb.sql(f"SELECT {ingest.literal(value)}").fetchall() == [(value,)]


def test_a_path_becomes_a_string():
    assert ingest.literal(Path("a'b") / "c") == "'a''b/c'"
