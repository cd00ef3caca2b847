"""Critical paths and gains of small traces."""

import json
from typing import Any

import pytest

import ingest
from tests.builders.events import Event
from tests.ingest.pipeline.critical_path.small_events import (
    LAUNCH,
    STEP,
    SYNC,
    WHOLE,
    Row,
    call,
    on_device,
    op,
    step,
)
from tests.ingest.pipeline.critical_path.small_traces import CASES


@pytest.fixture(scope="module")
def small_paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Row]]:
    """The paths of the small traces, ingested as the ranks of two runs: with a device, and without.

    In a run with a device, ranks that have none are not measured.
    """
    directory = tmp_path_factory.mktemp("small")
    store = ingest.Store(directory / "store")
    titles = list(CASES)
    for run in ("host", "device"):
        (directory / run).mkdir()
    for rank, title in enumerate(titles):
        events = CASES[title][0]
        run = "device" if any("stream" in event["args"] for event in events) else "host"
        trace = {"distributedInfo": {"rank": rank}, "traceEvents": events}
        (directory / run / f"{rank}.json").write_text(json.dumps(trace))
    for run in ("host", "device"):
        store.add(directory / run)
    paths: dict[str, list[Row]] = {title: [] for title in titles}
    query = "SELECT rank, kind, name, dur_ns / 1000 FROM critical_paths ORDER BY rank, ordinal"
    for rank, *row in ingest.connect(store.path).sql(query).fetchall():
        paths[titles[rank]].append(tuple(row))
    return paths


@pytest.mark.parametrize("title", CASES)
def test_path_of_a_small_step(title: str, small_paths: dict[str, list[Row]]) -> None:
    assert small_paths[title] == CASES[title][1]


def steps_of(traces: Any, events: list[Event]) -> list[tuple[Any, ...]]:
    """Return the paths of all steps: step, kind, name, start and length in µs."""
    query = """
        SELECT step, kind, name, start_ns / 1000, dur_ns / 1000
        FROM critical_paths ORDER BY step, ordinal
    """
    return list(traces.add(events).sql(query).fetchall())


def test_a_lagging_device_continues_the_previous_step(traces: Any) -> None:
    events = [step(0, 100), call(10, 12, 1), on_device("A", 20, 150, 1)]
    events += [step(100, 200, 1), call(110, 112, 2), on_device("B", 152, 260, 2)]
    assert steps_of(traces, events) == [
        (0, "host", WHOLE, 0, 10),
        (0, "host", LAUNCH, 10, 2),
        (0, "launch", "A", 12, 8),
        (0, "compute", "A", 20, 130),
        (1, "compute", "A", 100, 50),
        (1, "queue", "B", 150, 2),
        (1, "compute", "B", 152, 108),
    ]


@pytest.mark.parametrize(("own", "other"), [(7, 8), (8, 7)])
def test_a_step_ends_with_its_launched_work(traces: Any, own: int, other: int) -> None:
    """At the end of the step, a kernel of the next step runs on another stream."""
    events = [step(0, 100), call(10, 12, 1), on_device("A", 20, 150, 1, own)]
    events += [step(100, 200, 1), call(110, 112, 2), on_device("B", 115, 190, 2, other)]
    assert steps_of(traces, events)[:4] == [
        (0, "host", WHOLE, 0, 10),
        (0, "host", LAUNCH, 10, 2),
        (0, "launch", "A", 12, 8),
        (0, "compute", "A", 20, 130),
    ]


def test_a_kernel_launched_in_the_previous_step_waits_from_the_start(traces: Any) -> None:
    events = [step(0, 100), call(90, 92, 1), on_device("A", 120, 180, 1)]
    events += [step(100, 200, 1), call(110, 112, 2), on_device("B", 182, 260, 2)]
    assert steps_of(traces, events)[4:] == [
        (1, "launch", "A", 100, 20),
        (1, "compute", "A", 120, 60),
        (1, "queue", "B", 180, 2),
        (1, "compute", "B", 182, 78),
    ]


def gains_of(traces: Any, events: list[Any]) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the time on the path and the gain, µs, for each level and name."""
    rows = traces.add(events).sql(
        "SELECT level, name, on_path_ns / 1000, gain_ns / 1000 FROM critical_path_summary"
        " WHERE name IS NOT NULL"
    )
    return {(level, name): (on_path, gain) for level, name, on_path, gain in rows.fetchall()}


def test_another_chain_becomes_the_longest(traces: Any) -> None:
    """A is on the path, and B runs at the same time for nearly as long."""
    events = [STEP, call(10, 12, 1), call(12, 14, 2)]
    events += [on_device("A", 20, 120, 1), on_device("B", 20, 110, 2, stream=8)]
    gains = gains_of(traces, events)
    assert gains["kernel", "A"] == (108, 10)  # with its launch; then the step ends with B
    assert gains["kind", "compute"] == (100, 20)  # with the host
    assert gains["kind", "launch"] == (8, 8)
    assert gains["call", LAUNCH] == (2, 2)  # and A is still last


def test_a_late_launch_gains_as_much_as_the_device_can_begin_earlier(traces: Any) -> None:
    """Without the operator, B follows A2 with the shortest gap between activities of a stream."""
    events = [STEP, call(10, 12, 1), call(12, 14, 2), on_device("A", 20, 30, 1)]
    events += [on_device("A2", 31, 40, 2), op("slow", 15, 80), call(80, 82, 3)]
    gains = gains_of(traces, [*events, on_device("B", 86, 186, 3)])
    # A2 ends at 40 and B began at 86: of the 46 µs between, the device takes 1.
    assert gains["op", "slow"] == (65, 45)


def test_a_wait_has_no_gain_if_the_host_takes_as_long(traces: Any) -> None:
    """Without the kernel, the host continues earlier, and its work is as long as the step."""
    events = [STEP, call(10, 12, 1), on_device("A", 20, 80, 1), call(30, 85, 9, SYNC)]
    gains = gains_of(traces, events)
    assert gains["kernel", "A"] == (68, 55)  # the host: 10 + 2 + 18 + 0 + 15
    assert gains["call", SYNC] == (5, 5)
