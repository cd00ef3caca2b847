"""Exported events that cross others of their thread or stream have tracks of their own."""

import json
import random
from pathlib import Path

import pytest

import ingest
from ingest.export.chrome import MANY_SPANS
from ingest.export.crossing import MOST_TRACKS
from tests.builders.events import Event, frame, host, kernel, op
from tests.conftest import Traces
from tests.helpers.command import Command

EVENTS = [
    frame("enter", 0, 10),
    host("my_block", "user_annotation", 5, 20),
    frame("inside", 12, 5),
    host("cudaLaunchKernel", "cuda_runtime", 13, 1, {"correlation": 2}),
    kernel("A", 100, 40, correlation=1),
    kernel("B", 120, 30, correlation=2),
    kernel("C", 130, 30, correlation=3),
    kernel("D", 140, 10),  # begins when A ends
    kernel("touches", 160, 5),
    {"ph": "s", "id": 2, "cat": "ac2g", "name": "ac2g", "pid": 1, "tid": 1, "ts": 13},
    {"ph": "f", "id": 2, "cat": "ac2g", "name": "ac2g", "pid": 0, "tid": 7, "ts": 120, "bp": "e"},
]
TRACKS = {
    "enter": 1,
    "my_block": "thread 1 (2)",
    "inside": 1,
    "cudaLaunchKernel": 1,
    "A": 7,
    "B": "stream 7 (2)",
    "C": "stream 7 (3)",
    "D": 7,
    "touches": 7,
}


def first_tracks(events: list[Event]) -> list[int]:
    """Return the number of the first track of its thread on which each event nests."""
    tracks: dict[object, list[list[float]]] = {}  # of each thread: the ends of each track's events
    found = []
    for event in sorted(events, key=lambda each: (each["tid"], each["ts"], -each["dur"])):
        start, end = event["ts"], event["ts"] + event["dur"]
        of_thread = [*tracks.get(event["tid"], []), []]
        track = next(
            number
            for number, ends in enumerate(of_thread)
            if all(other <= start or end <= other for other in ends)
        )
        of_thread[track].append(end)
        tracks[event["tid"]] = list(filter(None, of_thread))
        found.append(track + 1)
    return found


def nests(events: list[Event]) -> bool:
    """Return whether the complete events of each track nest, as viewers require it."""
    open_ends: dict[object, list[float]] = {}
    for event in sorted(events, key=lambda each: (each["ts"], -each["dur"])):
        ends = open_ends.setdefault((event["pid"], event["tid"]), [])
        while ends and ends[-1] <= event["ts"]:
            ends.pop()
        if ends and event["ts"] + event["dur"] > ends[-1]:
            return False
        ends.append(event["ts"] + event["dur"])
    return True


def test_crossing_events_get_further_tracks_and_come_back_as_recorded(
    traces: Traces, command: Command, store: ingest.Store, tmp_path: Path
) -> None:
    columns = "name, pid, tid, start_ns - min(start_ns) OVER (), dur_ns, depth, self_ns, args"
    rows: list[object] = []
    path = traces.write(EVENTS, "recorded")
    for name in ("once", "twice"):
        run = store.add(path).run_id
        with ingest.connect(store.path) as connection:
            query = f"SELECT {columns} FROM events WHERE run_id = $1 ORDER BY ALL"
            rows.append(connection.execute(query, [run]).fetchall())
        path = tmp_path / f"{name}.json"
        assert command("export", run, "--chrome", path).code == 0
        exported = json.loads(path.read_text())["traceEvents"]
        shown = [event for event in exported if event["ph"] == "X"]
        assert {event["name"]: event["tid"] for event in shown} == TRACKS
        assert nests(shown)
        arrows = {event["ph"]: event["tid"] for event in exported if event.get("cat") == "ac2g"}
        assert arrows == {"s": 1, "f": "stream 7 (2)"}
    assert rows[0] == rows[1]
    assert not nests(EVENTS[:9])


@pytest.mark.parametrize("many_spans", [0, MANY_SPANS])
def test_any_events_get_the_first_track_on_which_they_nest(
    many_spans: int,
    traces: Traces,
    command: Command,
    store: ingest.Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ingest.export.chrome.MANY_SPANS", many_spans)
    chance = random.Random(7)
    recorded = [
        op(f"{thread}", chance.randrange(100 * spans), chance.randrange(1, 150), tid=thread)
        for thread in range(1, 200)
        for spans in [chance.choice([2, 4, 8])]
        for _ in range(2 * spans)
    ]
    # The first crosses the last by as much as the second the third.
    crossing = [(0, 120), (10, 50), (30, 80), (100, 200)]
    recorded += [op("200", 9000 + ts, end - ts, tid=200) for ts, end in crossing]
    run = store.add(traces.write(recorded, "trace")).run_id
    path = tmp_path / "exported.json"
    for part, shortest_ns in ((), 0), (("--min-dur", "60us"), 60_000):
        assert command("export", run, "--chrome", path, *part).code == 0
        shown = [each for each in json.loads(path.read_text())["traceEvents"] if each["ph"] == "X"]
        shown.sort(key=lambda each: (int(each["name"]), each["ts"], -each["dur"]))
        expected = [each for each in recorded if 1000 * each["dur"] >= shortest_ns]
        assert [
            1 if each["tid"] == int(each["name"]) else int(each["tid"].split("(")[1][:-1])
            for each in shown
        ] == first_tracks(expected)


def test_an_arrow_stays_with_the_event_of_the_first_track(
    traces: Traces, command: Command, store: ingest.Store, tmp_path: Path
) -> None:
    events = [
        frame("enter", 0, 10),
        host("my_block", "user_annotation", 5, 20),
        host("cudaLaunchKernel", "cuda_runtime", 5, 1, {"correlation": 2}),
        {"ph": "s", "id": 2, "cat": "ac2g", "name": "ac2g", "pid": 1, "tid": 1, "ts": 5},
    ]
    run = store.add(traces.write(events, "trace")).run_id
    path = tmp_path / "exported.json"
    assert command("export", run, "--chrome", path).code == 0
    exported = json.loads(path.read_text())["traceEvents"]
    tracks = {event.get("name"): event.get("tid") for event in exported}
    assert tracks["my_block"] == "thread 1 (2)"
    assert tracks["cudaLaunchKernel"] == tracks["ac2g"] == 1


def test_events_of_two_files_may_cross(
    command: Command, store: ingest.Store, tmp_path: Path
) -> None:
    for name, ts in (("first", 0), ("second", 50)):
        trace = {"traceEvents": [op(name, ts, 100)], "distributedInfo": {"rank": 0}}
        (tmp_path / f"{name}.json").write_text(json.dumps(trace))
    run = store.add(tmp_path).run_id
    path = tmp_path / "exported.json"
    assert command("export", run, "--chrome", path).code == 0
    shown = [each for each in json.loads(path.read_text())["traceEvents"] if each["ph"] == "X"]
    assert {each["name"]: each["tid"] for each in shown} == {"first": 1, "second": "thread 1 (2)"}


def test_the_number_of_tracks_has_a_limit(
    traces: Traces, command: Command, store: ingest.Store, tmp_path: Path
) -> None:
    events = [kernel(f"k{number}", number, 1000) for number in range(200)]
    run = store.add(traces.write(events, "trace")).run_id
    path = tmp_path / "exported.json"
    assert command("export", run, "--chrome", path).code == 0
    exported = json.loads(path.read_text())["traceEvents"]
    assert len({event["tid"] for event in exported if event["ph"] == "X"}) == MOST_TRACKS
