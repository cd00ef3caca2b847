"""Events hours away from all others. Profilers write the time 0 if they do not know it."""

import json

from tests.builders.events import kernel, op
from tests.ingest.formats.conftest import Ranks

HOURS_US = 15_580_800_000_000.0  # since the trace's base
APART = {
    "a profiler's zero": [0, 0],
    "long before": [HOURS_US - 3.7e9],
    "long after": [HOURS_US + 1e10, HOURS_US + 1.1e10],
}


def test_events_hours_away_from_the_others_have_no_time(ranks: Ranks) -> None:
    shown = [kernel("k", HOURS_US + 30, 50), kernel("k", HOURS_US + 100, 50), op("a", HOURS_US)]
    outliers = [[kernel("outlier", at, 0) for at in times] for times in APART.values()]
    sources = ranks.add(*[[*events, *shown] for events in outliers], shown)
    for source, events in zip(sources, [*outliers, []], strict=True):
        assert source.complete == 3
        reason = "complete event without a valid ts"
        assert source.other == ({reason: len(events)} if events else {})
    found = ranks.rows("SELECT rank, span_ns, busy_ns, idle_ns FROM device_time")
    assert found == [[(120_000, 100_000, 20_000)]] * 4
    kept = ranks.rows("SELECT rank, name, time_ns, event FROM other_events ORDER BY event_id")
    for rows, events in zip(kept, outliers, strict=True):
        assert [(name, at, json.loads(text)) for name, at, text in rows] == [
            ("outlier", None, event) for event in events
        ]


def test_an_event_without_a_category_is_set_aside_too(ranks: Ranks) -> None:
    [source] = ranks.add(
        '[{"ph": "X", "name": "a", "ts": 0, "dur": 0}, ' + json.dumps(op("b", 4e9)) + "]"
    )
    assert source.complete == 1
    assert ranks.rows("SELECT rank, event ->> 'name' FROM other_events") == [[("a",)]]


def test_work_hours_apart_keeps_its_times(ranks: Ranks) -> None:
    """For example, with a pause, or with another clock on the device."""
    [source] = ranks.add([op("a", 0, 9), op("b", 20, 9), kernel("k", 7.2e9, 5)])
    assert (source.complete, source.warnings) == (3, [])


def test_events_within_an_hour_keep_their_times(ranks: Ranks) -> None:
    near = [op("a", 0, 0), op("b", 3.5e9), op("c", 7e9)]
    long = [op("all", 0, 9e9), op("inside", 8e9, 0)]
    for source, events in zip(ranks.add(near, long), (near, long), strict=True):
        assert (source.complete, source.warnings) == (len(events), [])
