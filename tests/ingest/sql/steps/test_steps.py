"""The steps of a run, and the step of each event."""

from pathlib import Path
from typing import Any

import ingest
from tests.builders.events import Event, host, kernel, op
from tests.builders.relations import Run, built
from tests.conftest import Traces


def launched(name: str, launch: float, start: float, dur: float) -> list[Event]:
    """Return a kernel of this name and its launch."""
    call = host("cudaLaunchKernel", "cuda_runtime", launch, 1, {"correlation": round(launch)})
    return [call, kernel(name, start, dur, correlation=round(launch))]


def step(number: int, start: float, dur: float) -> Event:
    return host(f"ProfilerStep#{number}", "user_annotation", start, dur)


def steps_of(events: list[Event]) -> dict[str, Any]:
    """Return the step of each kernel and operator by name."""
    connection = built(events)
    return dict(
        connection.sql(
            "SELECT name, step FROM kernels UNION ALL SELECT name, step FROM ops"
        ).fetchall()
    )


def test_an_activity_belongs_to_the_step_of_its_launch() -> None:
    found = steps_of(
        [
            step(0, 10, 20),
            step(1, 30, 20),
            *launched("before", 5, 15, 1),
            *launched("first", 20, 60, 10),
            *launched("second", 40, 70, 10),
            *launched("after", 55, 80, 10),
            host("aten::mm", "cpu_op", 29, 10),
        ],
    )
    assert found == {
        **{"before": None, "first": 0, "second": 1, "after": None},
        **{"aten::mm": 0, "ProfilerStep#0": 0, "ProfilerStep#1": 1},
    }


def test_an_outer_step_continues_after_an_inner_one() -> None:
    found = steps_of(
        [
            step(0, 0, 100),
            step(7, 20, 20),
            *launched("outer", 10, 110, 1),
            *launched("inner", 30, 112, 1),
            *launched("outer again", 50, 114, 1),
            host("aten::mm", "cpu_op", 60, 5),
        ],
    )
    assert (found["outer"], found["inner"], found["outer again"]) == (0, 7, 0)
    assert found["aten::mm"] == 0


def test_work_launched_after_an_inner_step_is_measured() -> None:
    connection = built(
        [step(0, 0, 100), step(7, 20, 20), *launched("k", 30, 50, 5), *launched("l", 50, 90, 30)]
    )
    rows = connection.sql("SELECT start_ns, end_ns FROM measured_windows").fetchall()
    assert rows == [(0, 120_000)]


def test_steps_that_begin_together_or_follow_immediately() -> None:
    connection = built(
        [
            *(step(0, 0, 100), step(1, 0, 40), step(2, 40, 40), step(3, 100, 50)),
            *(op(name, ts, 5) for name, ts in (("a", 0), ("b", 40), ("c", 80), ("d", 100))),
        ]
    )
    found = connection.sql(
        "SELECT name, step FROM ops WHERE length(name) = 1 ORDER BY name"
    ).fetchall()
    assert found == [("a", 1), ("b", 2), ("c", 0), ("d", 3)]


def test_an_annotation_on_a_device_has_the_step_of_its_host_annotation() -> None:
    annotation = host("forward", "user_annotation", 12, 10, {"External id": 3})
    on_device = kernel("forward", 35, 10, "gpu_user_annotation", **{"External id": 3})
    connection = built(
        [step(0, 10, 20), step(1, 30, 20), annotation, on_device, *launched("k", 14, 35, 10)]
    )
    rows = connection.sql(
        "SELECT step FROM events WHERE category = 'gpu_user_annotation'"
    ).fetchall()
    assert rows == [(0,)]


def test_a_benchmarks_marker_is_not_a_step() -> None:
    marker = "[param|pytorch.model.alex_net|0|0|0|measure|forward]"
    connection = built(
        [
            host(marker, "user_annotation", 0, 40),
            host(marker, "user_annotation", 50, 40),
            host("denoise", "user_annotation", 0, 10),
            host("denoise", "user_annotation", 15, 10),
        ]
    )
    rows = connection.sql("SELECT DISTINCT steps_from, step_name FROM steps").fetchall()
    assert rows == [("annotation", "denoise")]


def test_only_one_file_has_the_median_step_if_step_numbers_repeat(
    traces: Traces, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for name, dur in (("a", 10), ("b", 30)):
        # Steps 0 and 1 of each file, of 10, 11, 30 and 31 µs: the median is step 1 of a.
        recorded = [
            event
            for number in (0, 1)
            for event in (
                step(number, 100 * number, dur + number),
                *launched(f"{name}{number}", 100 * number + 1, 100 * number + 2, 1),
            )
        ]
        traces.write(recorded, name, distributedInfo={"rank": 0}).rename(run / f"{name}.json")
    traces.store.add(run)
    with ingest.connect(traces.store.path) as connection:
        windows = "SELECT median_step FROM measured_windows ORDER BY source_id"
        assert connection.sql(windows).fetchall() == [(1,), (None,)]
        kernels = "SELECT name FROM measured_kernels WHERE is_median"
        assert connection.sql(kernels).fetchall() == [("a1",)]


def test_a_file_without_steps_does_not_count_next_to_one_with_steps() -> None:
    with_steps = [step(3, 0, 100), op("aten::mm", 5), step(4, 100, 100), op("aten::mul", 105)]
    files = {"a.json": with_steps, "b.json": [op("aten::add", 5)]}
    relations = built(
        Run(
            {
                name: {"distributedInfo": {"rank": 0}, "traceEvents": events}
                for name, events in files.items()
            }
        )
    )
    ops = "SELECT name, step FROM ops WHERE name LIKE 'aten%' ORDER BY name"
    assert relations.sql(ops).fetchall() == [
        ("aten::add", None),
        ("aten::mm", 3),
        ("aten::mul", 4),
    ]
    windows = "SELECT source_id, step, steps_from FROM steps ORDER BY source_id, step"
    assert relations.sql(windows).fetchall() == [
        (0, 3, "ProfilerStep"),
        (0, 4, "ProfilerStep"),
    ]
