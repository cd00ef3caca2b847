"""Moments of memory: rows of `memory_timeline`, passed to macros by the name of a relation."""

from typing import Any

import duckdb
import pytest

import ingest
from tests.helpers.samples import Samples

RUNS = ("train_ctx512", "full_history_annotations", "private_pools_no_history", "h100_owlv2")
MACROS = (
    "memory_allocations_at('{}')",
    "memory_by_owner_at('{}')",
    "memory_layout_at('{}')",
    "memory_map('{}', 20, 50)",
)


@pytest.fixture(scope="module")
def store(sampled: Samples) -> ingest.Store:
    return ingest.Store(sampled.store(*RUNS))


@pytest.fixture(scope="module")
def connection(store: ingest.Store) -> duckdb.DuckDBPyConnection:
    """A connection with the view `picked`: the peak and the end of each device of each run."""
    opened = ingest.connect(store.path)
    opened.execute(
        """
        CREATE TEMP VIEW picked AS
        SELECT moment.*
        FROM memory_timeline AS moment
        INNER JOIN memory_peak AS peak
            ON
                moment.run_id = peak.run_id
                AND moment.source_id = peak.source_id
                AND moment.device_type = peak.device_type
                AND moment.device IS NOT DISTINCT FROM peak.device
                AND moment.ordinal IN (peak.peak_ordinal, peak.actions - 1)
        """
    )
    return opened


def rows(connection: duckdb.DuckDBPyConnection, query: str, *values: object) -> list[Any]:
    return connection.execute(query, list(values)).fetchall()


@pytest.mark.parametrize("macro", MACROS)
def test_many_moments_return_the_same_rows_as_each_moment_alone(connection, macro):
    found = rows(connection, f"FROM {macro.format('picked')} ORDER BY ALL")
    moments = rows(connection, "SELECT run_id, device_type, device, ordinal FROM picked")
    assert len(moments) >= 7
    alone = [
        row
        for moment in moments
        for row in rows(
            connection,
            "WITH used AS (FROM memory_timeline WHERE run_id = $1 AND device_type = $2 "
            f"AND device IS NOT DISTINCT FROM $3 AND ordinal = $4) FROM {macro.format('used')}",
            *moment,
        )
    ]
    assert len(found) > 100
    assert sorted(map(repr, alone)) == sorted(map(repr, found))


@pytest.mark.parametrize("macro", MACROS)
def test_the_relation_of_moments_may_have_any_name(connection, macro):
    query = "SELECT count(*) FROM " + macro
    [(count,)] = rows(connection, query.format("picked"))
    for name in ("held", "segments", "blocks", "moments"):
        named = f"WITH {name} AS (FROM picked) {query.format(name)}"
        assert rows(connection, named) == [(count,)]


def test_owners_add_up_to_the_memory_in_use(connection):
    sums = rows(
        connection,
        "SELECT used_bytes, level, sum(owner.bytes)::BIGINT FROM picked "
        "INNER JOIN memory_by_owner_at('picked') AS owner USING (run_id, ordinal) "
        "WHERE picked.device_type = owner.device_type GROUP BY ALL",
    )
    assert len(sums) > 30
    assert [row for row in sums if row[0] != row[2]] == []


def test_memory_moments_returns_the_last_action_of_each_device(store, connection):
    run = store.find("h100_owlv2")
    ((first, last),) = rows(
        connection, "SELECT min(first_ns), max(last_ns) FROM memory_peak WHERE run_id = $1", run
    )
    moments = "SELECT device_type, device, ordinal, action FROM memory_moments($1, $2) ORDER BY 1"
    before = rows(connection, moments, run, first - 1)
    assert before == [("cpu", None, -1, None), ("cuda", 0, -1, None)]
    ends = rows(
        connection,
        "SELECT device_type, actions - 1 FROM memory_peak WHERE run_id = $1 ORDER BY 1",
        run,
    )
    assert [(row[0], row[2]) for row in rows(connection, moments, run, last)] == ends
    assert rows(connection, moments, store.find("private_pools"), last) == []


def test_devices_match_those_of_other_tables(store, connection):
    joined = rows(
        connection,
        "SELECT device, device_label(device_type, device), activities > 0 FROM memory_peak "
        "INNER JOIN device_totals USING (run_id, rank, device) WHERE run_id = $1",
        store.find("h100_owlv2"),
    )
    assert joined == [(0, "cuda:0", True)]
    assert rows(connection, "SELECT device_label('cpu', NULL)") == [("cpu",)]


def test_unknown_owners_have_names_in_parentheses(connection):
    names = rows(connection, "SELECT DISTINCT name, is_known FROM memory_by_owner")
    assert {name for name, is_known in names if not is_known} == {
        "(before the trace)", "(not freed)",
        "(no stack)", "(no module)", "(no operator)", "(no category)",
    }  # fmt: skip
    assert [name for name, is_known in names if is_known and name.startswith("(")] == []


def test_stacks_account_for_all_memory_in_use(connection):
    """The sum includes allocations without a stack, and memory from before the trace."""
    [(used_bytes, stacks)] = rows(
        connection,
        "SELECT sum(value), count(*) FILTER (frames <> [no_stack()]) "
        "FROM memory_stacks_at('picked')",
    )
    assert rows(connection, "SELECT sum(used_bytes) FROM picked") == [(used_bytes,)]
    assert stacks > 50
