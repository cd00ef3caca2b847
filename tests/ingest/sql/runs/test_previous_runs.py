"""The previous run of each run."""

from typing import Any

from ingest import AddOptions
from tests.builders.events import host, op
from tests.builders.relations import Run, built, trace

DAY_NS = 86_400 * 10**9


def test_the_previous_run_has_the_same_model_and_preferably_the_same_device() -> None:
    runs: dict[str, Run] = {}

    def add(name: str, day: int, model: str | None, device: str | None) -> None:
        kernel = op("gemm", 0, 10, cat="kernel", pid=0, tid=7)
        metadata: dict[str, Any] = {"baseTimeNanoseconds": (20_000 + day) * DAY_NS}
        if device:
            metadata["deviceProperties"] = [{"id": 0, "name": device}]
        events = [kernel] if device else [host("aten::mm", "cpu_op", 0, 10)]
        options = AddOptions(name=name.partition("-")[0], model=model)
        runs[name] = trace(events, options, **metadata)

    # Not in the order in which they ran.
    add("c", 3, "flux", "A100")
    add("a", 1, "flux", "A100")
    add("b", 2, "flux", "H100")
    add("d", 4, "flux", None)
    add("nightly-1", 1, None, None)
    add("other", 2, None, None)
    add("nightly-2", 3, None, None)
    expected = {
        "a": (None, None),
        "b": ("a", False),
        "c": ("a", True),
        "d": ("c", False),
        "nightly-1": (None, None),
        "nightly-2": ("nightly-1", True),
        "other": (None, None),
    }
    rows = built(runs).sql("SELECT run_id, previous_run_id, is_same_device FROM previous_runs")
    assert {run: tuple(before) for run, *before in rows.fetchall()} == expected
