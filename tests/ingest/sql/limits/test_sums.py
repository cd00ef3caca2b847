"""Sums of work agree: over operators, kernels, modules, steps and runs, on real traces."""

from typing import Any

import duckdb
import pytest

import ingest
from tests.helpers.samples import EAGER, Samples

DEVICE = "h100_owlv2"
STEPS = "v100_resnet50_workers0"
# Work and time of the operators with known work in each step, from the tables of operators and
# kernels alone.
OF_STEPS = """
    WITH timed AS (
        SELECT work_op_id AS op_id, min(step) AS step, sum(dur_ns) AS ns
        FROM kernels WHERE run_id = $1 AND work_op_id IS NOT NULL GROUP BY ALL
    )
    SELECT timed.step, sum(flops), sum(bytes), sum(ns)
    FROM op_work JOIN timed USING (op_id)
    WHERE op_work.run_id = $1 AND timed.step IS NOT NULL GROUP BY ALL ORDER BY ALL
"""
OF_HOST_STEPS = """
    SELECT ops.step, sum(flops), sum(bytes), sum(ops.dur_ns)
    FROM op_work JOIN ops ON op_work.run_id = ops.run_id AND op_id = event_id
    WHERE op_work.run_id = $1 AND ops.step IS NOT NULL GROUP BY ALL ORDER BY ALL
"""
RUNS = {DEVICE: OF_STEPS, STEPS: OF_STEPS, EAGER: OF_HOST_STEPS}


@pytest.fixture(scope="module")
def connection(sampled: Samples) -> Any:
    with ingest.connect(sampled.store(*RUNS)) as opened:
        yield opened


def run_id(connection: duckdb.DuckDBPyConnection, name: str) -> str:
    [(found,)] = connection.execute("SELECT run_id FROM runs WHERE name = ?", [name]).fetchall()
    return str(found)


@pytest.mark.parametrize("name", RUNS)
def test_steps_and_runs_have_the_work_of_their_operators(
    connection: duckdb.DuckDBPyConnection, name: str
) -> None:
    run = run_id(connection, name)
    expected = connection.execute(RUNS[name], [run]).fetchall()
    assert expected
    for step, *sums in expected:
        for level in ("op", "module"):
            found = connection.execute(
                "SELECT sum(flops), sum(bytes), sum(work_ns) FROM efficiency_of_steps($1, $2, $2) "
                "WHERE level = $3",
                [run, step, level],
            ).fetchall()
            assert found == [tuple(sums)]
    # The median step is the run's.
    [(median, flops, moved)] = connection.execute(
        "SELECT step, flops, bytes FROM run_efficiency JOIN run_metrics "
        "USING (run_id, device_id) WHERE run_id = $1",
        [run],
    ).fetchall()
    assert [(flops, moved)] == [(row[1], row[2]) for row in expected if row[0] == median]


@pytest.mark.parametrize("name", [DEVICE, EAGER])
def test_outermost_modules_and_what_is_outside_add_up_to_the_operators(
    connection: duckdb.DuckDBPyConnection, name: str
) -> None:
    run = run_id(connection, name)
    [expected] = connection.execute(
        "SELECT sum(flops), sum(work_ns), sum(saved_ns), count(*) FROM op_efficiency "
        "WHERE run_id = $1",
        [run],
    ).fetchall()
    found = connection.execute(
        """
        SELECT sum(flops), sum(work_ns), sum(saved_ns), sum(calls)
        FROM (
            SELECT flops, work_ns, saved_ns, worked_ops AS calls
            FROM module_efficiency_of_steps($1) JOIN module_tree USING (module_id)
            WHERE run_id = $1 AND depth = 0
            UNION ALL
            SELECT flops, work_ns, saved_ns, 1 FROM op_efficiency
            WHERE run_id = $1 AND module_id IS NULL
        )
        """,
        [run],
    ).fetchall()
    assert found == [expected]


@pytest.mark.parametrize("module", ["Owlv2EncoderLayer_3", "Owlv2Attention_30", "Owlv2MLP_5"])
def test_a_module_has_the_work_that_its_calls_launch(
    connection: duckdb.DuckDBPyConnection, module: str
) -> None:
    """The calls of the module are the Python frames with its name."""
    run = run_id(connection, DEVICE)
    [(flops, ns, device_ns)] = connection.execute(
        """
        WITH launched AS (
            SELECT kernels.work_op_id, sum(kernels.dur_ns) AS ns,
                sum(kernels.dur_ns) FILTER (WHERE class <> 'communication') AS device_ns
            FROM kernels SEMI JOIN events AS call
            ON call.run_id = $1 AND call.name = $2
                AND kernels.launch_ns >= call.start_ns
                AND kernels.launch_ns < call.start_ns + call.dur_ns
            WHERE kernels.run_id = $1 GROUP BY ALL
        )
        SELECT sum(flops), sum(ns) FILTER (WHERE op_id IS NOT NULL), sum(device_ns)
        FROM launched
        LEFT JOIN (FROM op_work WHERE run_id = $1) ON op_id = work_op_id
        """,
        [run, f"nn.Module: {module}"],
    ).fetchall()
    found = connection.execute(
        "SELECT flops, work_ns, tflop_per_s, known_percent "
        "FROM module_efficiency_of_steps($1) JOIN module_tree AS tree USING (module_id) "
        "WHERE tree.run_id = $1 AND tree.name = $2",
        [run, module],
    ).fetchall()
    assert found == [(flops, ns, pytest.approx(flops / ns / 1e3), pytest.approx(100))]
    assert ns == device_ns
