"""Several runs compared with one base."""

from typing import Any

from tests.builders import diff_traces
from tests.builders.diff_traces import Call
from tests.builders.events import host
from tests.builders.relations import Run, built, trace


def run(length: int, busy: int) -> Run:
    """Return a run of two steps, each with one kernel."""
    calls = [Call("aten::mm", (10, 20), "gemm", (50, busy))]
    return trace(diff_traces.trace(calls, length, 2), **diff_traces.DEVICE)


def test_each_run_is_compared_with_the_base() -> None:
    on_host = [host("aten::mm", "cpu_op", 0, 10)]
    relations = built(
        {"base": run(400, 100), "slow": run(500, 120), "fast": run(300, 90), "host": on_host}
    )

    def compared_with_base(*others: str) -> list[tuple[Any, ...]]:
        return relations.execute(
            "SELECT run_id, wall_ns, change_ns, change_percent, busy_ns, busy_change_ns "
            "FROM runs_against($1, $2)",
            ["base", list(others)],
        ).fetchall()

    rows = [
        ("fast", 300_000, -100_000, -25.0, 90_000, -10_000),
        ("base", 400_000, 0, 0.0, 100_000, 0),
        ("slow", 500_000, 100_000, 25.0, 120_000, 20_000),
    ]
    assert compared_with_base("slow", "fast") == rows
    assert compared_with_base("fast", "slow") == rows
    assert compared_with_base("host")[0] == ("host", 10_000, None, None, 10_000, None)
    assert not relations.execute("FROM runs_against('gone', $1)", [["base"]]).fetchall()
