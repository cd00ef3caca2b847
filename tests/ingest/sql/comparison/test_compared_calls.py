"""The merged call trees of one step of each of two runs."""

import duckdb

import ingest
from tests.builders.events import frame, host, op
from tests.conftest import Traces


def test_calls_match_whatever_their_line_numbers(traces: Traces) -> None:
    """The frames around the step differ, but do not count."""
    for name, line, mul in (("a", 3, 30), ("b", 7, 10)):
        traces.store.add(
            traces.write(
                [
                    frame(f"{name}.py(1): main", 0, 400),
                    host("ProfilerStep#0", "user_annotation", 10, 200),
                    frame(f"model.py({line}): forward", 20, 100),
                    op("aten::mul", 30, mul),
                    op(f"aten::only_{name}", 70, 5),
                ],
                name,
            )
        )
    with ingest.connect(traces.store.path) as connection:
        first, second = (
            connection.execute("SELECT run_id FROM runs WHERE name = $1", [name]).fetchall()[0][0]
            for name in ("a", "b")
        )
        rows = connection.execute(
            """
            SELECT call.name, around.name, call.base_self_ns, call.other_self_ns
            FROM compared_calls($1, $2) AS call
            LEFT JOIN compared_calls($1, $2) AS around ON call.caller_id = around.id
            ORDER BY call.name
            """,
            [first, second],
        ).fetchall()
    assert rows == [
        ("ProfilerStep*", None, 100_000, 100_000),
        ("aten::mul", "model.py(3): forward", 30_000, 10_000),
        ("aten::only_a", "model.py(3): forward", 5_000, None),
        ("aten::only_b", "model.py(3): forward", None, 5_000),
        ("model.py(3): forward", "ProfilerStep*", 65_000, 85_000),
    ]


def test_all_device_time_of_the_steps_is_compared(
    store_of_samples: duckdb.DuckDBPyConnection,
) -> None:
    first, second = (
        store_of_samples.execute("SELECT run_id FROM runs WHERE name = $1", [name]).fetchall()[0][0]
        for name in ("h100_owlv2", "v100_resnet50_workers0")
    )
    [found] = store_of_samples.execute(
        "SELECT sum(base_self_device_ns), sum(other_self_device_ns) FROM compared_calls($1, $2)",
        [first, second],
    ).fetchall()
    [expected] = store_of_samples.execute(
        """
        SELECT sum(kernels.dur_ns) FILTER (step.side = 'base'),
            sum(kernels.dur_ns) FILTER (step.side = 'other')
        FROM compared_steps($1, $2) AS step
        INNER JOIN kernels ON step.run_id = kernels.run_id
            AND (step.step IS NULL OR step.step = kernels.step)
        WHERE step.is_median
        """,
        [first, second],
    ).fetchall()
    assert found == expected
