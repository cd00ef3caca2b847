"""Page Runs, without a browser."""

import time

import pytest

import ingest
from tests.dashboard.elements import add_cut, add_whole, event, tables, texts


def test_a_run_without_a_device_has_no_figures_of_one(app, traces):
    run = add_whole(traces, "host", [event("cpu_op", 0)])
    page = app(traces.store.path, "runs", run=run)
    assert {m.label: m.value for m in page.metric} == {"Complete events": "1"}
    assert "There is no device" in texts(page)


def test_files_say_first_what_went_wrong_and_count_in_words(app, traces):
    flow = {"ph": "s", "id": 1, "cat": "ac2g", "name": "ac2g", "ts": 1, "pid": 0, "tid": 7}
    run = add_cut(traces, "cut", [event("kernel", 0), flow, {**flow, "ts": 2}])
    files = tables(app(traces.store.path, "runs", run=run))[1]
    assert list(files.columns[:3]) == ["file", "status", "warnings"]
    (file,) = files.to_dict("records")
    assert (file["file"], file["status"]) == ("cut.json", "truncated")
    assert file["path"] == str(traces.directory / "cut.json")
    assert (file["complete_events"], file["other_counts"]) == (1, "2 flow starts")
    assert "dropped_counts" not in file  # as nothing was


@pytest.mark.slow
def test_hundreds_of_runs_are_found_and_shown_at_once(app, shown_store, store, run_of):
    source = ingest.Store(shown_store).run_path(run_of("flux_eager_full"))
    for number in range(300):
        copy = store.path / "runs" / source.parent.name / f"run_id=copy_{number:03}-{number:08x}"
        copy.mkdir()
        for file in source.iterdir():
            (copy / file.name).hardlink_to(file)
    assert len(tables(app(store.path, "runs"))[0]) == 300
    started = time.perf_counter()
    page = app(store.path, "runs", find="copy_123", run="copy_299-0000012b")
    assert list(tables(page)[0]["run_id"]) == ["copy_123-0000007b"]
    assert time.perf_counter() - started < 5


def test_a_run_added_meanwhile_shows_up_on_reload(app, store, samples):
    store.add(samples / "traces" / "cpu_only.json.gz")
    page = app(store.path, "runs")
    assert len(tables(page)[0]) == 1
    store.add(samples / "traces" / "mi210_gpu_only.json.gz")
    assert len(tables(page.run())[0]) == 2
