"""Sections of reports, on recorded runs: what commands print and pages draw, as data."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import ingest
from ingest.reports import Section, diff, memory, runs, sweep, top
from ingest.reports.device_memory import DeviceMemory, devices_of
from ingest.reports.moments import moment
from ingest.sql import column_meanings
from tests.helpers.recorded import COMPILED, DEVICE, EAGER, NETWORK, SNAPSHOT, TWO_RANKS

COUNTED_OR_CUT = {"events", "file"}  # events of a category, and the end of a path
RUNS = [EAGER, COMPILED, DEVICE, NETWORK, SNAPSHOT, TWO_RANKS]


@pytest.fixture(scope="module")
def connection(recorded_store: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with ingest.connect(recorded_store) as connection:
        yield connection


def ids(connection: duckdb.DuckDBPyConnection, name: str) -> str:
    (row,) = connection.execute("SELECT run_id FROM runs WHERE name = $1", [name]).fetchall()
    return str(row[0])


def sections_of(connection: duckdb.DuckDBPyConnection, run_id: str) -> list[Section]:
    """Return every section about one run."""
    devices = [DeviceMemory(**row) for row in devices_of([run_id]).rows(connection)]
    return [
        runs.labels(run_id),
        runs.files([run_id]),
        *runs.contents(run_id),
        *(each for level in top.LEVELS for each in top.rankings(connection, run_id, level)),
        *(
            section
            for device in devices
            for section in (
                memory.at_moment(connection, device, moment("peak"), None),
                memory.errors(device),
                *(memory.fragmentation(device, level) for level in ("device", "pool", "segment")),
                memory.allocator_settings(device),
                memory.leaks(device, len(memory.steps(device).rows(connection))),
                memory.by_operator(device),
            )
        ),
    ]


def check(connection: duckdb.DuckDBPyConnection, section: Section) -> int:
    """Assert that the dictionary or the section explains each column. Return the number of rows."""
    rows = section.query.rows(connection)
    explained = {*column_meanings(section.view), *section.labels, *COUNTED_OR_CUT}
    assert section.title
    assert {column for row in rows for column in row} - explained == set(), section
    return len(rows)


def test_the_columns_of_each_section_are_explained(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    found: dict[str, int] = {}
    for name in RUNS:
        for section in sections_of(connection, ids(connection, name)):
            found[section.title] = found.get(section.title, 0) + check(connection, section)
    assert check(connection, runs.runs()) == len(RUNS)
    compared = ingest.compare(connection, [ids(connection, EAGER)], [ids(connection, COMPILED)])
    for level in diff.LEVELS:
        found[level] = check(connection, diff.breakdown(compared, level))
    check(connection, sweep.variants("none"))
    empty = {title for title, rows in found.items() if not rows}
    assert empty == {"Stages", "Leaks", "Events by category"}


def test_the_totals_of_a_ranking_are_those_of_its_devices(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    first, second, both = top.rankings(connection, ids(connection, NETWORK), "op")
    assert [each.of[1:] for each in (first, second)] == [
        ("rank 0", "device 0"),
        ("rank 0", "device 1"),
    ]
    of_device = {"wall_ns": 3_000_000_000, "busy_ns": 1_000_000_000, "idle_ns": 2_000_000_000}
    assert totals(connection, first) == totals(connection, second) == of_device
    assert totals(connection, both) == {name: 2 * ns for name, ns in of_device.items()}
    for section in (first, second, both):
        rows = section.query.rows(connection)
        assert sum(row["device_ns"] for row in rows) == totals(connection, section)["wall_ns"]


def test_a_run_without_a_device_is_ranked_by_self_time_of_each_rank(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    run_id = ids(connection, TWO_RANKS)
    sections = top.rankings(connection, run_id, "kernel")
    assert [section.of for section in sections] == [
        (run_id, f"rank {rank}", "host") for rank in (0, 1)
    ]
    for section in sections:
        rows = section.query.rows(connection)
        assert sum(row["self_ns"] for row in rows) == totals(connection, section)["self_ns"]
        assert sum(row["percent"] for row in rows) == pytest.approx(100)


def totals(connection: duckdb.DuckDBPyConnection, section: Section) -> dict[str, Any]:
    """Return the totals of a section."""
    assert section.totals is not None
    (row,) = section.totals.rows(connection)
    return row
