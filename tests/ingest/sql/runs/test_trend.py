"""Metrics over time, in a series with a known change."""

from typing import Any

import duckdb
import pytest

from ingest import AddOptions, sql
from tests.builders import diff_traces
from tests.builders.relations import Relations, Run, built, trace
from tests.conftest import Traces

HOUR_NS = 3_600_000_000_000
FIRST_NS = 1_700_000_000_000_000_000
EAGER_US = [1000, 1010, 990, 1500, 1000, 1010]  # one outlier, which is not a change point
COMPILED_US = [800, 810, 790, 800, 800]


@pytest.fixture(scope="module")
def series() -> Relations:
    """Eleven runs of a model, the last five compiled, and three runs of another."""

    def run(hour: int, calls: list[diff_traces.Call], step_us: int, model: str) -> Run:
        return trace(
            diff_traces.trace(calls, step_us, 2),
            AddOptions(model=model, tags={"branch": "main"}),
            baseTimeNanoseconds=FIRST_NS + hour * HOUR_NS,
            **diff_traces.DEVICE,
        )

    runs = {}
    for number, step_us in enumerate(EAGER_US):
        runs[f"run{number:02}"] = run(number, diff_traces.EAGER, step_us, "flux")
    for number, step_us in enumerate(COMPILED_US, len(EAGER_US)):
        runs[f"run{number:02}"] = run(number, diff_traces.COMPILED, step_us, "flux")
    for number, step_us in ((2, 5000), (5, 6000), (8, 7000)):
        runs[f"other{number}"] = run(number, diff_traces.EAGER, step_us, "other")
    return built(runs)


def query_rows(relations: Relations, query: str) -> list[tuple[Any, ...]]:
    return relations.sql(query).fetchall()


def test_a_change_point_is_the_first_changed_run(series: Relations) -> None:
    found = query_rows(
        series,
        """
        SELECT name, before_median, before_spread, from_median, round(change_percent, 2)
        FROM trend WHERE is_change_point AND metric = 'wall'
        """,
    )
    # Before: 1010, 990, 1500, 1000, 1010. From this run: 800, 810, 790, 800, 800.
    assert found == [("run06", 1_010_000, 10_000, 800_000, -20.79)]


def test_each_metric_has_its_own_change_points(series: Relations) -> None:
    found = query_rows(series, "SELECT metric, name FROM trend WHERE is_change_point")
    changed = {metric for metric, name in found}
    assert {name for _, name in found} == {"run06"}
    assert {"wall", "kernels", "launches", "idle_host"} <= changed
    assert not {"steps", "compute", "busy"} & changed  # 200 to 194 µs is only 3 %


def test_trend_has_every_metric_of_every_run_in_order(series: Relations) -> None:
    found = query_rows(
        series,
        """
        SELECT name, value, tags['branch'] FROM trend
        WHERE metric = 'wall' AND model = 'flux' ORDER BY started_at
        """,
    )
    walls = [step_us * 1000 for step_us in EAGER_US + COMPILED_US]
    assert found == [(f"run{number:02}", wall, "main") for number, wall in enumerate(walls)]
    [(metrics, of_trend)] = query_rows(
        series,
        """
        SELECT
            (SELECT count(value) FROM run_metrics_long WHERE is_default),
            (SELECT count(*) FROM trend)
        """,
    )
    assert metrics == of_trend


def test_runs_are_numbered_in_their_series_from_the_oldest(series: Relations) -> None:
    found = query_rows(
        series,
        "SELECT series, list(name ORDER BY run_number) FROM run_series GROUP BY 1 ORDER BY 1",
    )
    flux = [f"run{number:02}" for number in range(len(EAGER_US + COMPILED_US))]
    assert [names for _, names in found] == [flux, ["other2", "other5", "other8"]]
    assert [name for name, _ in found] == ["flux, Test Device", "other, Test Device"]
    numbers = query_rows(series, "SELECT DISTINCT run_number FROM trend WHERE model = 'other'")
    assert sorted(numbers) == [(1,), (2,), (3,)]


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([100, 101, 99, 100, 100, 130, 131, 129, 130], [5]),
        ([100, 101, 99, 100, 100, 130, 131, 129, 130, 200], [5]),  # another change is near
        ([100, 101, 99, 100, 100, 130, 131, 129, 130, 200, 201, 199], [5, 9]),
        ([130, 131, 129, 130, 100, 101, 99], [4]),
        ([100, 100, 130, 131, 129, 130, 160], []),  # only two runs before the first change
        ([100, 100, 100, 125, 130, 130, 130], [3]),
        ([100, 100, 100, 105, 130, 130, 130], [4]),
        ([100, 100, 100, 130, 100, 100, 130, 130, 130, 130], [6]),  # after a single slow run
        ([100, 100, 100, 20, 130, 130, 130], [4]),
        ([100, 101, 99, 100, 150], []),  # one run may be an outlier
        ([100, 101, 99, 103, 104, 103], []),  # less than 5 %
    ],
)
def test_a_change_is_at_the_first_run_with_the_new_value(values, found) -> None:
    connection = duckdb.connect()
    connection.execute(sql.files()["percent_change"].statement)
    connection.execute(
        "CREATE TABLE run_series AS SELECT run AS run_id, 'net' AS series, run AS run_number, "
        "NULL AS name, NULL AS model, NULL AS mode, NULL AS device_name, NULL AS tags, "
        "NULL AS started_at, NULL AS ingested_at FROM range($1) AS runs (run)",
        [len(values)],
    )
    connection.execute(
        "CREATE TABLE run_overview AS SELECT * EXCLUDE (series, run_number) FROM run_series"
    )
    connection.execute(
        "CREATE TABLE run_metrics_long AS SELECT unnest(range(len($1))) AS run_id, "
        "'wall' AS metric, 'ns' AS unit, unnest($1) AS value, true AS is_default",
        [values],
    )
    connection.execute(sql.files()["trend"].statement)
    changes = connection.sql("SELECT run_id FROM trend WHERE is_change_point ORDER BY run_id")
    assert [run for (run,) in changes.fetchall()] == found


def test_trend_reads_only_the_index(traces: Traces) -> None:
    connection = traces.add(diff_traces.eager(), **diff_traces.DEVICE)
    [(_, plan)] = connection.sql("EXPLAIN (ANALYZE, FORMAT json) FROM trend").fetchall()
    names = {word.split(".parquet")[0] for word in plan.split("/") if ".parquet" in word}
    assert [name.partition("-")[0] for name in names] == ["index"]
