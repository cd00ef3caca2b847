"""Python frames without a recorded return, which the profiler records to its stop."""

import json
from typing import Any

from tests.builders.events import Event, frame, op
from tests.builders.relations import built

STOP = 1000


def called(name: str, ts: float, dur: float, number: int, caller: int | None = None) -> Event:
    """Return a Python frame. `number` is its id, `caller` the id of the frame that called it."""
    return frame(name, ts, dur) | {"args": {"Python id": number, "Python parent id": caller}}


def open_at_stop(name: str, ts: float, number: int, caller: int) -> Event:
    return called(name, ts, STOP - ts, number, caller)


def calls() -> list[Event]:
    """Return four steps of 100 µs that each call a function without a recorded return."""
    events = [called("main", 0, STOP, 1)]
    for at in (100, 300, 500, 700):
        events += [
            called("step", at, 100, at, 1),
            open_at_stop("open", at + 10, at + 1, at),
            op("work", at + 20, 50),
        ]
    return events


def times(events: Any) -> dict[str, tuple[int, int, int]]:
    """Return the number of calls, the total and the self time (µs) of each name."""
    rows = built(events).sql(
        "SELECT name, count(*), sum(dur_ns) // 1000, sum(self_ns) // 1000 FROM events GROUP BY name"
    )
    return {name: (calls, total, own) for name, calls, total, own in rows.fetchall()}


def test_a_frame_ends_no_later_than_its_caller() -> None:
    assert times(calls()) == {
        "main": (1, 1000, 600),
        "step": (4, 400, 40),
        "open": (4, 360, 160),
        "work": (4, 200, 200),
    }
    found = built(calls())
    [source] = found.sources
    assert source.warning_codes == ["frames_without_return"]
    assert "4 Python frames" in source.warnings[0]
    rows = found.sql("SELECT args FROM events WHERE name = 'open' ORDER BY start_ns").fetchall()
    assert [json.loads(args)["recorded dur (ns)"] for (args,) in rows] == [
        890_000,
        690_000,
        490_000,
        290_000,
    ]


def test_calls_inside_such_a_frame_end_with_it_too() -> None:
    inside = [open_at_stop("inner", 175, 102, 101), open_at_stop("innermost", 180, 103, 102)]
    found = times([*calls(), *inside])
    assert found["inner"] == (1, 25, 5)
    assert found["innermost"] == (1, 20, 20)


def test_frames_that_were_open_at_the_stop_stay_as_recorded() -> None:
    events = [
        called("main", 0, STOP, 1),
        called("done", 10, 100, 2, 1),
        # A generator is called again after the frame that created it has ended.
        open_at_stop("generator", 200, 3, 2),
        open_at_stop("in generator", 300, 4, 3),
        open_at_stop("missing caller", 400, 5, 99),
        {**frame("no ids", 500, 500), "args": {}},
        {**frame("no id", 550, 450), "args": {"Python parent id": 1}},
        {**frame("odd ids", 600, 400), "args": {"Python id": "x", "Python parent id": [1]}},
        # These call each other.
        open_at_stop("a", 700, 6, 7),
        open_at_stop("b", 800, 7, 6),
    ]
    recorded = {event["name"]: (1, event["dur"]) for event in events}
    assert {name: (calls, total) for name, (calls, total, _) in times(events).items()} == recorded


def test_a_frame_without_an_id_ends_no_other() -> None:
    open_one = frame("open", 110, 890) | {"args": {"Python parent id": 2}}
    root = called("root of a thread", 150, 850, 9) | {"tid": 2}
    events = [called("main", 0, STOP, 1), called("step", 100, 100, 2, 1), open_one, root]
    found = times(events)
    assert found["open"] == (1, 90, 90)
    assert found["root of a thread"] == (1, 850, 850)


def test_finished_frames_that_outlast_their_callers_stay_as_recorded() -> None:
    events = [
        called("main", 0, STOP, 1),
        called("caller", 10, 100, 2, 1),
        called("finished", 20, 300, 3, 2),
    ]
    assert times(events)["finished"] == (1, 300, 300)


def test_the_stacks_of_many_such_frames_grow_with_the_trace() -> None:
    events = [called("main", 0, 1e6, 0)]
    for number in range(1, 1001):
        at = number * 100
        events += [
            called("step", at, 50, 2 * number, 0),
            called("open", at + 10, 1e6 - at - 10, 2 * number + 1, 2 * number),
        ]
    found = built(events)
    assert found.sql("SELECT max(depth) FROM events").fetchall() == [(2,)]
    [source] = found.sources
    assert "1,000 Python frames" in source.warnings[0]
