"""Page Bubbles, without a browser."""

import pytest

import ingest
from dashboard.drawing import formatting
from tests.dashboard.elements import (
    MARKS,
    add_whole,
    boxes,
    event,
    lanes,
    table_columns,
    table_with,
    tables,
    texts,
)
from tests.helpers.samples import TWO_RANKS


def test_a_run_without_a_device_shows_when_its_host_was_idle(app, traces):
    """`b` begins 40 µs after the end of `a`."""
    host = add_whole(traces, "host", [event("cpu_op", 0, "a"), event("cpu_op", 50, "b")])
    device = add_whole(traces, "device", [event("kernel", 0)])
    page = app(traces.store.path, "bubbles", run=[device, host])
    assert page.selectbox(key="of").value == device
    page.selectbox(key="of").select(host).run()
    assert "no device" in texts(page)
    assert {m.label: m.value for m in page.metric}["Idle"] == "40.0 µs"
    assert table_with(page, "cause")[["cause", "idle_ns"]].values.tolist() == [["host", 40_000]]
    drawn = boxes(*lanes(page))[["lane", "name", "text"]].values.tolist()
    assert sorted(row[1:] for row in drawn if row[0] != "idle") == [
        ["a", "compute: 10.0 µs at 0.00000 ms"],
        ["b", "compute: 10.0 µs at 0.05000 ms"],
    ]
    assert [row[2] for row in drawn if row[0] == "idle"] == ["idle: host: 40.0 µs at 0.01000 ms"]


def test_a_step_shows_only_its_gaps(app, shown_store, run_of):
    run = run_of("v100_resnet50_workers0")
    page = app(shown_store, "bubbles", run=run, step="9")
    with ingest.connect(shown_store) as connection:
        causes = connection.execute(
            "SELECT cause, sum(dur_ns), count(*) FROM bubbles WHERE run_id = $1 AND step = 9 "
            "GROUP BY cause ORDER BY 2 DESC",
            [run],
        ).fetchall()
        (length_ns,) = connection.execute(
            "SELECT wall_ns FROM step_metrics WHERE run_id = $1 AND step = 9", [run]
        ).fetchone()
    found, gaps, *_ = tables(page)
    rows = found[["cause", "idle_ns", "bubbles"]].itertuples(index=False, name=None)
    assert list(rows) == causes
    assert len(gaps) == min(200, sum(count for *_, count in causes))
    assert f"**Step 9**: {formatting.duration(length_ns)}" in texts(page)


def test_the_causes_of_a_step_add_up_to_its_idle_time(opened, shown_store, run_of):
    """A gap began before the step, so the gaps add up to a different time."""
    run = run_of(TWO_RANKS)
    with ingest.connect(shown_store) as connection:
        step, idle_ns, gaps, whole_ns = connection.execute(
            "SELECT any_value(step.step), any_value(idle_ns), any_value(bubbles), sum(gap.dur_ns) "
            "FROM step_metrics AS step INNER JOIN bubbles AS gap USING (run_id, rank, step) "
            "WHERE run_id = $1 AND rank = 0 AND is_median AND step IS NOT NULL",
            [run],
        ).fetchone()
    page = opened(shown_store, "bubbles", run=run)
    causes = tables(page)[0]
    assert whole_ns < causes["idle_ns"].sum() == idle_ns
    assert causes["bubbles"].sum() == gaps
    assert {m.label: m.value for m in page.metric}["Idle"] == formatting.duration(idle_ns)
    assert "the totals can differ" in texts(page)
    split = table_with(page, "parts")
    assert split[["rank", "device"]].values.tolist() == [[0, 0], [1, 1]]
    for parts in split["parts"]:
        assert sum(percent for percent, *_ in parts) == pytest.approx(100)
    longest = formatting.duration(causes["idle_ns"].iloc[0])
    part_texts = [text for *_, text in split["parts"].iloc[0]]
    assert [text for text in part_texts if text.startswith(f"idle: host: {longest}, ")]
    (heading,) = (each["heading"] for each in table_columns(page, -1) if each["name"] == "parts")
    assert f"wall time in step {step}" in heading


def test_a_busy_device_shows_its_streams_by_number(opened, shown_store, run_of):
    page = opened(shown_store, "bubbles", run=run_of("v100_resnet50_workers0"))
    drawn = boxes(*lanes(page))
    assert (drawn["lane"] == "stream 7").sum() == 1_000
    assert "the 1,000 longest activities of the device" in texts(page)
    page = opened(shown_store, "bubbles", run=run_of(TWO_RANKS))
    order = ["idle", *(f"stream {number}" for number in (7, 23, 25, 84, 203))]
    assert lanes(page)[0]["lanes"][: len(order)] == order


def test_runs_with_a_common_prefix_have_separate_rows(app, traces):
    name = "a_long_name_of_a_training_run_that_others_share"
    runs = [add_whole(traces, name + end, [event("kernel", 0, end)]) for end in ("_one", "_two")]
    page = app(traces.store.path, "bubbles", run=runs)
    split = table_with(page, "parts")
    assert list(split["run_id"]) == sorted(runs)
    assert [sum(percent for percent, *_ in parts) for parts in split["parts"]] == [100, 100]


@pytest.mark.parametrize(
    "window", [{}, {"from": "900000000", "to": "920000000"}, {"from": "x", "to": "-1"}]
)
def test_no_more_than_a_few_thousand_boxes_are_sent(opened, shown_store, run_of, window):
    for run in ("h100_owlv2", "v100_resnet50_workers0", TWO_RANKS):
        page = opened(shown_store, "bubbles", run=run_of(run), **window)
        (chart,) = lanes(page)
        assert 10 < len(chart["boxes"]["start"]) + len(chart["strips"][0]["start"]) < MARKS
