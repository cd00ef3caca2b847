"""Paths across several devices, streams, waits and files of a rank, in small traces."""

import json
from pathlib import Path
from typing import Any

import pytest

import ingest
from tests.builders.events import kernel
from tests.ingest.pipeline.critical_path.small_events import (
    STEP,
    SYNC,
    A,
    call,
    on_device,
    recorded,
    step,
)

PATH = "SELECT kind, name, start_ns / 1000, dur_ns / 1000 FROM critical_paths ORDER BY ordinal"


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


@pytest.mark.parametrize("order", [(8, 9), (9, 8)])
def test_a_wait_is_for_the_stream_that_ended_last(traces: Any, order: tuple[int, int]) -> None:
    events = [STEP, call(10, 11, 1), call(11, 12, 2)]
    events += [on_device("A", 20, 150, 1, 8), on_device("B", 20, 100, 2, 9)]
    for index, stream in enumerate(order):
        events += make_stream_wait(14 + index, 10 + index, stream, 12 + index)
    events += [call(18, 19, 3), on_device("C", 151, 160, 3, 7)]
    assert traces.add(events).sql(PATH).fetchall()[-3:] == [
        ("compute", "A", 20, 130),
        ("dependency", "C", 150, 1),
        ("compute", "C", 151, 9),
    ]


EVENT_WAIT = "cudaEventSynchronize"


def test_a_wait_for_an_event_is_for_work_before_it(traces: Any) -> None:
    events = [STEP, call(1, 2, 1), call(3, 3.5, 7, "cudaEventRecord"), call(5, 6, 2)]
    events += [on_device("A", 10, 80, 1), on_device("B", 81, 82, 2), call(10, 85, 9, EVENT_WAIT)]
    wait = {"wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": 7}
    events.append(recorded("Event Sync", 10, 9, 7, **wait))
    assert ("sync", EVENT_WAIT, 80, 5) in traces.add(events).sql(PATH).fetchall()


@pytest.mark.parametrize("stream", [{"wait_on_stream": -1}, {"wait_on_stream": 4294967295}, {}])
def test_an_event_of_an_unknown_stream_can_be_on_any(traces: Any, stream: dict[str, int]) -> None:
    events = [STEP, *A, call(30, 85, 9, EVENT_WAIT), recorded("Event Sync", 30, 9, 7, **stream)]
    assert ("sync", EVENT_WAIT, 80, 5) in traces.add(events).sql(PATH).fetchall()


def test_a_wait_for_a_device_is_not_explained_by_another(traces: Any) -> None:
    events = [STEP, call(10, 12, 1), kernel("A", 20, 60, device=1, correlation=1)]
    events += [call(30, 85, 9, SYNC), recorded("Context Sync", 30, 9, 4294967295)]
    assert ("unexplained", SYNC, 30, 55) in traces.add(events).sql(PATH).fetchall()


def test_streams_of_two_devices_are_distinguished(traces: Any) -> None:
    """The kernel of device 1 waits for that of device 0, on a stream with the same number."""
    events = [STEP, call(10, 11, 1), call(11, 12, 2), kernel("A", 20, 80, correlation=1)]
    events.append(kernel("B", 101, 20, device=1, correlation=2))
    rows = traces.add(events).sql(
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


def test_a_kernel_that_overlaps_the_previous_one_follows_it(traces: Any) -> None:
    events = [STEP, call(10, 12, 1), call(13, 14, 2), on_device("A", 20, 101, 1)]
    events.append(on_device("B", 100, 150, 2))
    assert traces.add(events).sql(PATH).fetchall()[-2:] == [
        ("compute", "A", 20, 80),
        ("compute", "B", 100, 50),
    ]


def test_a_synchronisation_without_a_kind_has_that_of_its_name(traces: Any) -> None:
    sync = recorded("Stream Sync", 30, 9, 7)
    del sync["args"]["cuda_sync_kind"]
    events = [STEP, *A, call(30, 85, 9, "cudaStreamSynchronize"), sync]
    rows = traces.add(events).sql(PATH).fetchall()
    assert ("sync", "cudaStreamSynchronize", 80, 5) in rows
