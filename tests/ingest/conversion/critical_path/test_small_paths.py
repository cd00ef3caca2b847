"""Critical paths and gains of small traces."""

from typing import Any

from tests.builders.events import Event
from tests.builders.relations import built, ranks
from tests.conftest import Ranks
from tests.ingest.conversion.critical_path.small_events import (
    LAUNCH,
    STEP,
    SYNC,
    WHOLE,
    Row,
    call,
    on_device,
    op,
    recorded,
    step,
)
from tests.ingest.conversion.critical_path.small_traces import CASES


def test_paths_of_small_steps() -> None:
    """The small traces are the ranks of two runs: with a device, and without.

    In a run with a device, ranks that have none are not measured.
    """
    groups: dict[str, dict[str, list[Event]]] = {"host": {}, "device": {}}
    for title, (events, _) in CASES.items():
        run = "device" if any("stream" in event["args"] for event in events) else "host"
        groups[run][title] = events
    relations = built({run: ranks(traces.values()) for run, traces in groups.items()})
    paths: dict[str, list[Row]] = {title: [] for title in CASES}
    titles = {run: list(traces) for run, traces in groups.items()}
    for run, rank, *row in relations.sql(
        "SELECT run_id, rank, kind, name, dur_ns / 1000 FROM critical_paths ORDER BY rank, ordinal"
    ).fetchall():
        paths[titles[run][rank]].append(tuple(row))
    assert paths == {title: expected for title, (_, expected) in CASES.items()}


# Steps that share work: the events, and the paths of one or both steps (step, kind, name, start
# and length in µs).
CONSECUTIVE: dict[str, tuple[list[Event], list[tuple[Any, ...]]]] = {
    "a lagging device continues the previous step": (
        [
            *(step(0, 100), call(10, 12, 1), on_device("A", 20, 150, 1)),
            *(step(100, 200, 1), call(110, 112, 2), on_device("B", 152, 260, 2)),
        ],
        [
            (0, "host", WHOLE, 0, 10),
            (0, "host", LAUNCH, 10, 2),
            (0, "launch", "A", 12, 8),
            (0, "compute", "A", 20, 130),
            (1, "queue", "B", 150, 2),
            (1, "compute", "B", 152, 108),
        ],
    ),
    # At the end of the step, a kernel of the next step runs on another stream.
    **{
        f"a step ends with its launched work on stream {own}": (
            [
                *(step(0, 100), call(10, 12, 1), on_device("A", 20, 150, 1, own)),
                *(step(100, 200, 1), call(110, 112, 2), on_device("B", 115, 190, 2, other)),
            ],
            [
                (0, "host", WHOLE, 0, 10),
                (0, "host", LAUNCH, 10, 2),
                (0, "launch", "A", 12, 8),
                (0, "compute", "A", 20, 130),
            ],
        )
        for own, other in ((7, 8), (8, 7))
    },
}


def test_paths_of_consecutive_steps() -> None:
    found = built(ranks(events for events, _ in CONSECUTIVE.values())).by_rank(
        "SELECT rank, step, kind, name, start_ns / 1000, dur_ns / 1000 "
        "FROM critical_paths ORDER BY step, ordinal"
    )
    for (title, (_, expected)), rows in zip(CONSECUTIVE.items(), found, strict=True):
        compared = {number for number, *_ in expected}
        assert [row for row in rows if row[0] in compared] == expected, title


def awaited(at: float, correlation: int, stream: int) -> list[Event]:
    """Return events from `at` on: stream 9 waits for another stream."""
    waits = recorded(
        "Stream Wait Event",
        at + 1,
        correlation + 1,
        9,
        wait_on_stream=stream,
        wait_on_cuda_event_record_corr_id=correlation,
    )
    record = call(at, at + 1, correlation, "cudaEventRecord")
    return [record, call(at + 1, at + 2, correlation + 1, "cudaStreamWaitEvent"), waits]


Gains = dict[tuple[str, str], tuple[float, float]]
# The events of a step, and for some levels and names the time on the path and the gain in µs.
GAINS: dict[str, tuple[list[Event], Gains]] = {
    # A is on the path, and B runs at the same time for nearly as long.
    "another chain becomes the longest": (
        [
            *(STEP, call(10, 12, 1), call(12, 14, 2)),
            *(on_device("A", 20, 120, 1), on_device("B", 20, 110, 2, stream=8)),
        ],
        {
            ("kernel", "A"): (108, 10),  # without A and its launch, the step ends with B
            # Without A and B, the step ends with the host's work.
            ("kind", "compute"): (100, 20),
            ("kind", "launch"): (8, 8),
            ("call", LAUNCH): (2, 2),  # without launches, A still ends last
        },
    ),
    # Without the operator, B follows A2 with the shortest gap between activities of a stream. A2
    # ends at 40 and B began at 86: of the 46 µs between, the device takes 1.
    "a late launch gains as much as the device can begin earlier": (
        [
            *(STEP, call(10, 12, 1), call(12, 14, 2), on_device("A", 20, 30, 1)),
            *(on_device("A2", 31, 40, 2), op("slow", 15, 80), call(80, 82, 3)),
            on_device("B", 86, 186, 3),
        ],
        {("op", "slow"): (65, 45)},
    ),
    # Without the operator, C follows the copy of length zero, which follows A.
    "an activity of length zero does not break the order of its stream": (
        [
            *(STEP, call(10, 12, 1), on_device("A", 20, 80, 1), op("slow", 15, 85)),
            *(call(85, 87, 2), on_device("Memcpy", 90, 90, 2)),
            *(call(87, 88, 3), on_device("C", 91, 151, 3)),
        ],
        {("op", "slow"): (70, 9)},  # C begins 2 µs after A
    ),
    # Without the kernel, the host continues earlier, and its work is as long as the step.
    "a wait has no gain if the host takes as long": (
        [STEP, call(10, 12, 1), on_device("A", 20, 80, 1), call(30, 85, 9, SYNC)],
        {
            ("kernel", "A"): (68, 55),  # the host takes 10 + 2 + 18 + 0 + 15
            ("call", SYNC): (5, 5),
        },
    ),
    # Without A, the wait ends 5 µs after B.
    "a wait for two streams still waits for the other one": (
        [
            *(STEP, call(10, 12, 1), call(12, 14, 2), on_device("A", 20, 80, 1)),
            *(on_device("B", 20, 75, 2, stream=8), call(30, 85, 9, SYNC)),
        ],
        {("kernel", "A"): (68, 5)},
    ),
    # Without A, C begins as B ends.
    "a stream that waits for two others still waits for the other one": (
        [
            *(STEP, call(10, 12, 1), call(12, 14, 2)),
            *(on_device("A", 20, 80, 1), on_device("B", 20, 75, 2, stream=8)),
            *(*awaited(15, 3, stream=7), *awaited(17, 5, stream=8)),
            *(call(20, 21, 7), on_device("C", 80, 180, 7, stream=9)),
        ],
        {("kernel", "A"): (68, 5)},
    ),
}


def test_gains(ranks: Ranks) -> None:
    ranks.add(*[events for events, _ in GAINS.values()])
    found = ranks.rows(
        "SELECT rank, level, name, on_path_ns / 1000, gain_ns / 1000 FROM critical_path_summary "
        "WHERE name IS NOT NULL"
    )
    for (title, (_, expected)), rows in zip(GAINS.items(), found, strict=True):
        gains = {(level, name): (on_path, gain) for level, name, on_path, gain in rows}
        assert {key: gains[key] for key in expected} == expected, title
