"""Pages of runs with steps of no length, and with two underscores in their names."""

from pathlib import Path
from typing import Any

import pytest

import ingest
from tests.builders.events import Event, op
from tests.builders.flight_recorder import call, dump, pickled
from tests.dashboard.elements import step_heights, tables

OF_STEPS = ("operators", "kernels", "roofline", "modules", "ranks", "memory")
MODULE = "nn.Module: __Net_0"


def step(number: int, start: float, dur: float) -> Event:
    return op(f"ProfilerStep#{number}", start, dur, cat="user_annotation")


# Events, and the height of each step's bar in percent of the chart. One step has no chart.
RUNS: dict[str, tuple[list[Event], dict[int, int]]] = {
    "one_step": ([step(0, 10, 0)], {}),
    "no_step": ([op("a", 10, 0), op("a", 10, 0)], {}),
    "no_op": ([step(0, 10, 5), step(1, 20, 5)], {0: 100, 1: 100}),
    "one_of_two": ([step(0, 10, 0), step(1, 20, 50), op("a", 25, 5)], {0: 0, 1: 100}),
    "op_after": ([step(0, 10, 0), step(1, 20, 0), op("a", 30, 5)], {0: 0, 1: 0}),
    "op_inside": ([step(0, 10, 0), op("a", 10, 0)], {}),
}


@pytest.fixture(scope="module")
def odd(shared_traces: Any) -> Path:
    """A store with a run for each of `RUNS`."""
    for name, (events, _) in RUNS.items():
        shared_traces.add(events, name)
    return Path(shared_traces.store.path)


def test_steps_of_no_length_have_a_bar(app, odd):
    for name, (_, heights) in RUNS.items():
        page = app(odd, "overview", run=ingest.Store(odd).find(name))
        assert not page.exception, name
        shown = step_heights(page) if heights else {}
        assert shown == pytest.approx(heights), name


@pytest.mark.parametrize("page", OF_STEPS)
def test_pages_of_steps_draw_steps_of_no_length(app, odd, page):
    assert not app(odd, page, run=ingest.Store(odd).find("op_after")).exception


def test_names_and_searches_may_have_two_underscores(app, traces):
    events = [
        step(0, 0, 900),
        op(MODULE, 1, 800, cat="python_function", args={"Python id": 1}),
        op("aten::__and__", 5, 400, args={"External id": 1}),
    ]
    traces.add(events, "flux__bf16")
    run = traces.store.find("flux__bf16")
    page = app(traces.store.path, "operators", run=run, q="__and__")
    assert not page.exception
    assert list(tables(page)[0]["name"]) == ["aten::__and__"]
    page = app(traces.store.path, "modules", run=run, q="__Net")
    assert not page.exception
    assert "__Net_0" in str(tables(page)[0].to_dict())


@pytest.mark.parametrize("page", [*OF_STEPS, "overview", "runs", "timeline", "bubbles", "advice"])
def test_pages_of_a_run_without_traces(app, store, tmp_path, page):
    """A dump of the flight recorder has no events."""
    (tmp_path / "dump_rank_0").write_bytes(pickled(dump([call()])))
    run = store.add(tmp_path / "dump_rank_0").run_id
    assert not app(store.path, page, run=run).exception
