"""Page Streams, without a browser."""

import pytest

import ingest
from tests.builders.events import kernel
from tests.dashboard.elements import add_whole, event, lanes, table_with, tables, texts
from tests.helpers.samples import TWO_RANKS

LONGEST_QUEUES = ["queue 7", "queue 23", "queue 25", "queue 84"]


def test_each_table_shows_the_picked_step(app, shown_store, run_of):
    run = run_of("v100_resnet50_workers0")
    page = app(shown_store, "streams", run=run, step="9")
    with ingest.connect(shown_store) as connection:

        def rows_of(query: str) -> list[tuple]:
            return connection.execute(f"{query}('{run}', 9, 9) ORDER BY ALL").fetchall()

        assert _rows(page, "stream", "idle_ns", "gaps", "max_ns") == [
            (
                stream,
                sum(row[1] for row in rows),
                sum(row[2] for row in rows),
                max(r[3] for r in rows),
            )
            for stream, rows in _by_first(
                rows_of("SELECT stream, idle_ns, gaps, max_ns FROM stream_idle")
            ).items()
        ]
        assert _rows(page, "stream", "launches", "max_length") == rows_of(
            "SELECT stream, launches, max_length FROM queue_statistics"
        )
        assert sorted(_rows(page, "classes", "dur_ns")) == rows_of(
            "SELECT array_to_string(classes, ' + '), dur_ns FROM class_overlap"
        )
        assert sorted(_rows(page, "copy", "copies", "bytes", "device_ns")) == rows_of(
            "SELECT copy, copies, bytes, device_ns FROM copy_statistics"
        )
        assert sorted(_rows(page, "api", "launches", "call_ns", "long_delays")) == rows_of(
            "SELECT api, launches, call_ns, long_delays FROM launch_statistics"
        )
        [(delayed,)] = connection.execute(
            "SELECT count(*) FROM launch_calls "
            f"WHERE run_id = '{run}' AND step = 9 AND delay_ns > 100000"
        ).fetchall()
    assert len(table_with(page, "delay_ns")) == min(100, delayed)


def test_queues_and_copies_are_drawn_above_the_streams(opened, shown_store, run_of):
    page = opened(shown_store, "streams", run=run_of(TWO_RANKS))
    [chart] = lanes(page)
    strips = [strip["name"] for strip in chart["strips"]]
    assert strips[0] == ""
    assert [name for name in strips if name.startswith("queue ")] == LONGEST_QUEUES
    assert {"DtoD", "HtoD"} <= set(strips)
    assert any(lane.startswith("stream ") for lane in chart["lanes"])
    for strip in chart["strips"][1:]:
        assert max(strip["percent"]) == pytest.approx(100)


def test_a_run_without_launches_says_so(app, traces):
    run = add_whole(traces, "device", [kernel("k", 0, 10), kernel("k", 20, 10)])
    page = app(traces.store.path, "streams", run=run)
    assert "No launch was recorded in these steps." in texts(page)
    assert "Nothing was copied in these steps." in texts(page)
    assert _rows(page, "stream", "idle_ns", "gaps") == [(7, 10_000, 1)]


def test_a_run_without_a_device_says_so(app, traces):
    run = add_whole(traces, "host", [event("cpu_op", 0)])
    page = app(traces.store.path, "streams", run=run)
    assert "no device" in texts(page)
    assert tables(page) == []


def _rows(page, *columns):
    table = next(each for each in tables(page) if {*columns} <= {*each})
    return list(table[list(columns)].itertuples(index=False, name=None))


def _by_first(rows):
    found = {}
    for row in rows:
        found.setdefault(row[0], []).append(row)
    return found
