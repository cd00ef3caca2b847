"""Paths across several devices, streams, waits and files of a rank, in small traces."""

import json
from pathlib import Path
from typing import Any

import pytest

import ingest
from tests.builders.events import kernel
from tests.builders.relations import built, ranks
from tests.ingest.conversion.critical_path.small_events import (
    STEP,
    SYNC,
    A,
    call,
    on_device,
    recorded,
    step,
)


def make_stream_wait(at: float, correlation: int, stream: int, event: int) -> list[dict[str, Any]]:
    """Return a call that makes stream 7 await the work of another stream up to `event`."""
    return [
        call(event, event + 0.5, correlation + 50, "cudaEventRecord"),
        call(at, at + 0.5, correlation, "cudaStreamWaitEvent"),
        recorded(
            *("Stream Wait Event", at, correlation, 7),
            wait_on_stream=stream,
            wait_on_cuda_event_record_corr_id=correlation + 50,
        ),
    ]


def without(sync: dict[str, Any], argument: str) -> dict[str, Any]:
    """Return a recorded wait without one of its arguments."""
    del sync["args"][argument]
    return sync


def waits_for_two(*streams: int) -> list[dict[str, Any]]:
    """Return a step in which a kernel of stream 7 waits for kernels of these streams."""
    events = [STEP, call(10, 11, 1), call(11, 12, 2)]
    events += [on_device("A", 20, 150, 1, 8), on_device("B", 20, 100, 2, 9)]
    for index, stream in enumerate(streams):
        events += make_stream_wait(14 + index, 10 + index, stream, 12 + index)
    return [*events, call(18, 19, 3), on_device("C", 151, 160, 3, 7)]


AFTER_A = [("compute", "A", 20, 130), ("dependency", "C", 150, 1), ("compute", "C", 151, 9)]
EVENT_WAIT, STREAM_WAIT = "cudaEventSynchronize", "cudaStreamSynchronize"
# The events of a step, and consecutive rows of its path: kind, name, start and length in µs.
CASES: dict[str, tuple[list[dict[str, Any]], list[tuple[Any, ...]]]] = {
    "a wait is for the stream that ended last": (waits_for_two(8, 9), AFTER_A),
    "also if its wait comes last": (waits_for_two(9, 8), AFTER_A),
    "a wait for an event is for work before it": (
        [
            *(STEP, call(1, 2, 1), call(3, 3.5, 7, "cudaEventRecord"), call(5, 6, 2)),
            *(on_device("A", 10, 80, 1), on_device("B", 81, 82, 2), call(10, 85, 9, EVENT_WAIT)),
            recorded(
                *("Event Sync", 10, 9, 7), wait_on_stream=7, wait_on_cuda_event_record_corr_id=7
            ),
        ],
        [("sync", EVENT_WAIT, 80, 5)],
    ),
    **{
        f"an event of an unknown stream can be on any: {stream}": (
            [STEP, *A, call(30, 85, 9, EVENT_WAIT), recorded("Event Sync", 30, 9, 7, **stream)],
            [("sync", EVENT_WAIT, 80, 5)],
        )
        for stream in ({"wait_on_stream": -1}, {"wait_on_stream": 4294967295}, {})
    },
    "a wait for a device is not explained by another": (
        [
            *(STEP, call(10, 12, 1), kernel("A", 20, 60, device=1, correlation=1)),
            *(call(30, 85, 9, SYNC), recorded("Context Sync", 30, 9, 4294967295)),
        ],
        [("unexplained", SYNC, 30, 55)],
    ),
    "a kernel that overlaps the previous one follows it": (
        [
            *(STEP, call(10, 12, 1), call(13, 14, 2)),
            *(on_device("A", 20, 101, 1), on_device("B", 100, 150, 2)),
        ],
        [("compute", "A", 20, 80), ("compute", "B", 100, 50)],
    ),
    "a synchronisation without a kind has that of its name": (
        [
            *(STEP, *A, call(30, 85, 9, STREAM_WAIT)),
            without(recorded("Stream Sync", 30, 9, 7), "cuda_sync_kind"),  # an older torch
        ],
        [("sync", STREAM_WAIT, 80, 5)],
    ),
    "a wait for a stream that was not recorded may be for any stream": (
        [
            *(STEP, call(10, 12, 1), kernel("A", 20, 60, device=1, correlation=1)),
            *(call(30, 85, 9, STREAM_WAIT), without(recorded("Stream Sync", 30, 9, 7), "stream")),
        ],
        [("sync", STREAM_WAIT, 80, 5)],
    ),
}


def test_paths_across_streams_and_waits() -> None:
    relations = built(ranks(events for events, _ in CASES.values()))
    found = relations.by_rank(
        "SELECT rank, kind, name, start_ns / 1000, dur_ns / 1000 FROM critical_paths "
        "ORDER BY ordinal"
    )
    for (title, (_, expected)), rows in zip(CASES.items(), found, strict=True):
        first = rows.index(expected[0])
        assert rows[first : first + len(expected)] == expected, title
        if len(expected) > 1:
            assert rows[-1] == expected[-1], title


def test_streams_of_two_devices_are_distinguished() -> None:
    """A kernel of device 1 waits for a kernel of device 0, on a stream with the same number."""
    events = [STEP, call(10, 11, 1), call(11, 12, 2), kernel("A", 20, 80, correlation=1)]
    events.append(kernel("B", 101, 20, device=1, correlation=2))
    rows = built(events).sql(
        "SELECT name, kind, side, device, lane FROM critical_paths WHERE start_ns >= 20000 "
        "ORDER BY ordinal"
    )
    assert rows.fetchall() == [
        ("A", "compute", "device", 0, "stream 7"),
        ("B", "dependency", "device", 1, "stream 7"),
        ("B", "compute", "device", 1, "stream 7"),
    ]


def test_each_file_of_a_rank_has_a_path(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    for start in (0, 1000):
        events = [step(start, start + 100), call(start + 10, start + 12, 1)]
        events.append(on_device("A", start + 20, start + 120, 1))
        trace = {"distributedInfo": {"rank": 0}, "traceEvents": events}
        (tmp_path / "run" / f"{start}.json").write_text(json.dumps(trace))
    store = ingest.Store(tmp_path / "store")
    run = store.add(tmp_path / "run").run_id
    with ingest.connect(store) as opened:
        sums = opened.execute(
            "SELECT source_id, sum(percent), sum(on_path_ns)::BIGINT, count(DISTINCT name) "
            "FROM critical_path_summary WHERE level = 'kind' GROUP BY source_id ORDER BY source_id"
        ).fetchall()
        assert sums == [(0, pytest.approx(100), 120_000, 3), (1, pytest.approx(100), 120_000, 3)]
        for source in (0, 1):
            [(length,)] = opened.execute(
                "SELECT sum(dur_ns)::BIGINT FROM critical_path($1, 0, 0, $2)", [run, source]
            ).fetchall()
            assert length == 120_000
