"""The list of runs and the times of their steps, checked by hand on small traces."""

import ingest
from tests.builders import diff_traces
from tests.builders.events import host, op
from tests.builders.relations import built
from tests.conftest import Traces

LISTED = "SELECT steps, step_ns, busy_percent, step_times_ns FROM run_list"


def test_a_run_is_listed_with_its_labels_and_its_median_step(traces: Traces) -> None:
    path = traces.write(diff_traces.eager(), **diff_traces.DEVICE)
    options = ingest.AddOptions("a", "m", "eager", {"k": "v"}, note="n")
    traces.store.add(path, options)
    connection = ingest.connect(traces.store.path)
    labels = "SELECT name, model, mode, device_name, tags, note FROM run_list"
    assert connection.execute(labels).fetchall() == [
        ("a", "m", "eager", "Test Device", {"k": "v"}, "n")
    ]
    [(steps, step_ns, busy_percent, times)] = connection.execute(LISTED).fetchall()
    busy_ns = diff_traces.PARTS["compute"][0]
    assert (steps, step_ns) == (2, diff_traces.WALL[0])
    assert busy_percent == 100 * busy_ns / diff_traces.WALL[0]
    assert (len(times), times[0]) == (2, diff_traces.WALL[0])


def test_a_run_without_steps_has_no_step_times() -> None:
    connection = built([op("a", 1, 5)])
    assert connection.execute(LISTED).fetchall() == [(None, None, None, None)]
    assert connection.execute("FROM run_step_times").fetchall() == []


def test_many_steps_are_reduced_to_the_longest_of_each_group() -> None:
    durations = [10 + (7 * number) % 31 for number in range(130)]  # µs
    events = []
    for number, dur in enumerate(durations):
        begin = 100 * number
        events.append(host(f"ProfilerStep#{number}", "user_annotation", begin, dur))
        events.append(op("a", begin + 1, dur - 2))
    [(_, times)] = built(events).execute("FROM run_step_times").fetchall()
    groups: dict[int, list[int]] = {}
    for number, dur in enumerate(durations):
        groups.setdefault(number * 60 // 130, []).append(1000 * dur)
    assert times == [max(group) for group in groups.values()]
    assert len(times) == 60
