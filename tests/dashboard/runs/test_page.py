"""Page Runs, without a browser."""

import time

import pytest
import streamlit as st

import ingest
from dashboard import data
from ingest import sql
from tests.builders import diff_traces
from tests.conftest import Traces
from tests.dashboard.elements import add_cut, add_whole, event, tables, texts
from tests.helpers.stores import emptied


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):
    """A store of three runs: `a` and `b` have the same model, and `c` has no labels."""
    traces = Traces(tmp_path_factory.mktemp("labelled"), emptied(tmp_path_factory.mktemp("store")))
    labels = {
        "a": ingest.AddOptions("a", "flux", "eager", {"branch": "main", "gpu": "H100"}),
        "b": ingest.AddOptions("b", "flux", "compiled", {"branch": "main"}, note="n"),
        "c": ingest.AddOptions("c"),
    }
    made = {"a": diff_traces.eager(), "b": diff_traces.compiled(), "c": [event("cpu_op", 0)]}
    for name, options in labels.items():
        traces.store.add(traces.write(made[name], name), options)
    return traces.store


def names(page):
    return [run.rpartition("-")[0] for run in tables(page)[0]["run_id"]]


def test_a_run_without_a_device_has_no_device_metrics(app, traces):
    run = add_whole(traces, "host", [event("cpu_op", 0)])
    page = app(traces.store.path, "runs", run=run)
    assert {m.label: m.value for m in page.metric} == {"Complete events": "1"}
    assert "There is no device" in texts(page)


def test_files_show_problems_first_and_counts_as_text(app, traces):
    flow = {"ph": "s", "id": 1, "cat": "ac2g", "name": "ac2g", "ts": 1, "pid": 0, "tid": 7}
    run = add_cut(traces, "cut", [event("kernel", 0), flow, {**flow, "ts": 2}])
    files = tables(app(traces.store.path, "runs", run=run))[1]
    assert list(files.columns[:3]) == ["file", "status", "warnings"]
    (file,) = files.to_dict("records")
    assert (file["file"], file["status"]) == ("cut.json", "truncated")
    assert file["path"] == str(traces.directory / "cut.json")
    assert (file["complete_events"], file["other_counts"]) == (1, "2 flow starts")
    assert "dropped_counts" not in file  # because nothing was dropped


@pytest.mark.slow
def test_hundreds_of_runs_are_found_and_shown_at_once(app, shown_store, store, run_of):
    source = ingest.Store(shown_store).run_path(run_of("flux_eager_full"))
    for number in range(300):
        copy = store.path / "runs" / sql.schema_version() / f"run_id=copy_{number:03}-{number:08x}"
        copy.mkdir()
        for file in source.iterdir():
            (copy / file.name).hardlink_to(file)
    assert len(tables(app(store.path, "runs"))[0]) == 300
    started = time.process_time()
    page = app(store.path, "runs", find="copy_123", run="copy_299-0000012b")
    assert list(tables(page)[0]["run_id"]) == ["copy_123-0000007b"]
    assert time.process_time() - started < 5  # of CPU: a busy machine takes longer


def test_a_reload_shows_new_runs(app, store, sampled):
    sampled.add(store, "cpu_only")
    page = app(store.path, "runs")
    assert len(tables(page)[0]) == 1
    sampled.add(store, "mi210_gpu_only")
    assert len(tables(page.run())[0]) == 2


def test_runs_have_their_metrics_labels_and_the_chosen_columns(opened, labelled):
    rows = tables(opened(labelled.path, "runs"))[0].set_index("run_id")
    run = rows.loc[labelled.find("a")]
    step_ns, _ = diff_traces.WALL
    assert (run["step_ns"], run["step_times_ns"][0]) == (step_ns, step_ns)
    assert run["busy_percent"] == 100 * diff_traces.PARTS["compute"][0] / step_ns
    assert (run["model"], run["mode"], rows.loc[labelled.find("b")]["note"]) == (
        "flux",
        "eager",
        "n",
    )
    assert list(run["tags"]) == ["branch=main", "gpu=H100"]
    assert {"ranks", "events", "sources", "peak_bytes"}.isdisjoint(rows.columns)
    chosen = opened(labelled.path, "runs", columns=["files", "step time"])
    assert list(tables(chosen)[0].columns) == ["run_id", "sources", "step_ns"]


def test_picked_runs_come_first(opened, labelled):
    assert names(opened(labelled.path, "runs")) == ["c", "b", "a"]  # newest first
    page = opened(labelled.path, "runs", run=[labelled.find("a")])
    assert names(page) == ["a", "c", "b"]
    picked = opened(
        labelled.path, "runs", run=[labelled.find("a"), labelled.find("b")], group="model"
    )
    assert names(picked) == ["b", "a", "c"]


def test_runs_are_grouped_with_the_median_of_their_steps(app, labelled):
    page = app(labelled.path, "runs", group="model")
    median_us = sum(diff_traces.WALL) / 2 / 1000
    flux = f"flux · 2 runs · median {median_us:.0f} µs"
    groups = tables(page)[0]
    assert list(groups["group"]) == [flux, flux, "none · 1 run · no steps"]
    page = app(labelled.path, "runs", group="tag gpu")
    groups = tables(page)[0].set_index("run_id")["group"]
    assert groups[labelled.find("a")] == "H100 · 1 run · median 1.00 ms"
    assert groups[labelled.find("b")].startswith("none · 2 runs")


def test_picked_runs_have_links_to_every_page(app, labelled):
    for picked in (["a"], ["a", "b"], ["a", "b", "c"]):
        page = app(labelled.path, "runs", run=[labelled.find(name) for name in picked])
        linked = {link.proto.page for link in page.main.get("page_link")}
        assert linked >= {
            *("overview", "operators", "bubbles", "memory", "advice", "compare", "trends")
        }


@pytest.mark.parametrize("address", ["0.0.0.0", "::", ""])
def test_labels_cannot_be_edited_if_the_network_can_reach_the_dashboard(
    app, labelled, monkeypatch, address
):
    get = st.get_option
    monkeypatch.setattr(
        st, "get_option", lambda key: address if key == "server.address" else get(key)
    )
    page = app(labelled.path, "runs", run=labelled.find("a"))
    [button] = [button for button in page.button if button.label == "Edit labels"]
    assert button.disabled
    assert "ingest edit" in button.help


@pytest.mark.parametrize(
    ("options", "setting"), [(["--read-only"], ""), ([], "1"), (["--read-only"], "0")]
)
def test_a_read_only_dashboard_offers_no_edit_and_refuses_it(
    app, labelled, monkeypatch, options, setting
):
    monkeypatch.setenv("TRACEHOUSE_READ_ONLY", setting)
    run = labelled.find("a")
    page = app(labelled.path, "runs", *options, run=run)
    assert "Edit labels" not in [button.label for button in page.button]
    assert "read-only" in texts(page)
    before = tables(page)[0]
    with pytest.raises(ingest.IngestError, match="This dashboard is read-only"):
        data.edit([run], ingest.AddOptions(model="sd3"))
    assert tables(app(labelled.path, "runs", run=run))[0].equals(before)


def test_the_network_cannot_edit_labels(app, labelled, monkeypatch):
    monkeypatch.setenv("TRACEHOUSE_STORE", str(labelled.path))
    monkeypatch.setattr(st, "get_option", lambda key: "0.0.0.0")
    with pytest.raises(ingest.IngestError, match="The network can reach this dashboard"):
        data.edit([labelled.find("a")], ingest.AddOptions(model="sd3"))
    monkeypatch.undo()
    rows = tables(app(labelled.path, "runs"))[0].set_index("run_id")
    assert rows.loc[labelled.find("a")]["model"] == "flux"


@pytest.mark.parametrize("setting", ["", "0"])
def test_a_dashboard_of_this_machine_is_not_read_only_by_default(
    app, labelled, monkeypatch, setting
):
    monkeypatch.setenv("TRACEHOUSE_READ_ONLY", setting)
    get = st.get_option
    monkeypatch.setattr(
        st, "get_option", lambda key: "127.0.0.1" if key == "server.address" else get(key)
    )
    page = app(labelled.path, "runs", run=labelled.find("a"))
    assert [b.disabled for b in page.button if b.label == "Edit labels"] == [False]
    assert "read-only" not in texts(page)
