"""Several runs compared with one base."""

from typing import Any

import ingest
from tests.builders import diff_traces
from tests.builders.diff_traces import Call, trace
from tests.builders.events import host
from tests.conftest import Traces


def add(traces: Traces, name: str, length: int, busy: int) -> str:
    """Add a run of two steps, each with one kernel, and return its id."""
    calls = [Call("aten::mm", (10, 20), "gemm", (50, busy))]
    path = traces.write(trace(calls, length, 2), name, **diff_traces.DEVICE)
    return traces.store.add(path).run_id


def test_each_run_is_compared_with_the_base(traces: Traces) -> None:
    base, slow, fast = (
        add(traces, name, length, busy)
        for name, length, busy in (("base", 400, 100), ("slow", 500, 120), ("fast", 300, 90))
    )
    path = traces.write([host("aten::mm", "cpu_op", 0, 10)], "host")
    on_host = traces.store.add(path).run_id

    def compared_with_base(*others: str) -> list[tuple[Any, ...]]:
        with ingest.connect(traces.store.path) as connection:
            return connection.execute(
                "SELECT run_id, wall_ns, change_ns, change_percent, busy_ns, busy_change_ns "
                "FROM runs_against($1, $2)",
                [base, list(others)],
            ).fetchall()

    rows = [
        (fast, 300_000, -100_000, -25.0, 90_000, -10_000),
        (base, 400_000, 0, 0.0, 100_000, 0),
        (slow, 500_000, 100_000, 25.0, 120_000, 20_000),
    ]
    assert compared_with_base(slow, fast) == rows
    assert compared_with_base(fast, slow) == rows
    assert compared_with_base(on_host)[0] == (on_host, 10_000, None, None, 10_000, None)
    with ingest.connect(traces.store.path) as connection:
        assert not connection.execute("FROM runs_against('gone', $1)", [[base]]).fetchall()
