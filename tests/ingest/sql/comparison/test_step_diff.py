"""`step_diff`: the parts add up, and the median step equals `run_diff`."""

import duckdb
import pytest

import ingest
from tests.helpers.samples import Samples

RUNS = ("v100_resnet50_workers0", "v100_resnet50_workers4")
STEPS = 6  # steps of each run


@pytest.fixture(scope="module")
def pair(sampled: Samples) -> duckdb.DuckDBPyConnection:
    return ingest.connect(sampled.store(*RUNS))


@pytest.fixture(scope="module")
def ids(pair: duckdb.DuckDBPyConnection) -> list[str]:
    found = pair.execute("SELECT run_id FROM runs WHERE name IN (?, ?) ORDER BY name", RUNS)
    return [str(run) for (run,) in found.fetchall()]


@pytest.mark.parametrize("nth", range(1, STEPS + 1))
def test_parts_and_kernels_of_a_step_add_up(
    pair: duckdb.DuckDBPyConnection, ids: list[str], nth: int
) -> None:
    walls = [
        pair.execute(
            "SELECT wall_ns FROM step_metrics WHERE run_id = ? AND step IS NOT NULL "
            "ORDER BY start_ns LIMIT 1 OFFSET ?",
            [run, nth - 1],
        ).fetchall()[0][0]
        for run in ids
    ]
    found = {
        metric: (base, other)
        for metric, base, other in pair.execute(
            "SELECT metric, base, other FROM step_diff(?, ?, ?)", [*ids, nth]
        ).fetchall()
    }
    assert list(found["wall"]) == walls
    assert pair.execute(
        "SELECT sum(base), sum(other), sum(change) FROM step_diff(?, ?, ?) WHERE is_part",
        [*ids, nth],
    ).fetchall() == [(*walls, walls[1] - walls[0])]
    work = pair.execute(
        "SELECT sum(base_ns), sum(other_ns) FROM op_diff(?, ?, nth_step := ?)", [*ids, nth]
    ).fetchall()
    assert work == [
        tuple(
            sum(found[part][side] for part in ("compute", "communication", "copy"))
            for side in (0, 1)
        )
    ]


def test_the_median_step_is_that_of_run_diff(
    pair: duckdb.DuckDBPyConnection, ids: list[str]
) -> None:
    for side, run in zip(("base", "other"), ids, strict=True):
        ((nth,),) = pair.execute(
            "SELECT ordinal FROM compared_steps(?, ?) WHERE run_id = ? AND is_median", [*ids, run]
        ).fetchall()
        shared = pair.execute(
            f"SELECT count(*), bool_and(step.{side} IS NOT DISTINCT FROM run.{side}) "
            "FROM step_diff($1, $2, $3) AS step INNER JOIN run_diff($1, $2) AS run "
            "USING (metric, unit, is_part) WHERE metric <> 'peak'",
            [*ids, nth],
        ).fetchall()
        ((metrics,),) = pair.execute(
            "SELECT count(*) - 1 FROM step_diff(?, ?, ?)", [*ids, nth]
        ).fetchall()
        assert shared == [(metrics, True)]


def test_a_step_that_one_run_lacks_has_no_rows(
    pair: duckdb.DuckDBPyConnection, ids: list[str]
) -> None:
    arguments = [*ids, STEPS + 1]
    assert pair.execute("FROM step_diff(?, ?, ?)", arguments).fetchall() == []
    assert pair.execute("FROM op_diff(?, ?, nth_step := ?)", arguments).fetchall() == []
