"""Tests of all pages, without a browser."""

import pytest

import ingest
from dashboard.drawing import formatting
from ingest import server
from tests.dashboard.elements import add_cut, add_whole, event, tables, texts


def test_an_empty_store_shows_how_to_add_a_run(app, tmp_path):
    for page in ("runs", "operators", "bubbles"):
        assert "ingest add run_dir/" in texts(app(tmp_path / "store", page))
    assert not app(tmp_path / "store", "sql").exception


def test_a_directory_that_is_no_store_is_named(app, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    assert str(tmp_path) in texts(app(tmp_path, "runs"))


def test_device_times_are_correct(app, shown_store, run_of, truth):
    device = truth["h100_owlv2.json.gz"]["devices"]["0"]
    with ingest.connect(shown_store) as connection:
        ((wall_ns,),) = connection.execute(
            "SELECT dur_ns FROM steps WHERE run_id = $1", [run_of("h100_owlv2")]
        ).fetchall()
    for page in ("operators", "bubbles"):
        whole = app(shown_store, page, run=run_of("h100_owlv2"), step="all")
        metrics = {m.label: m.value for m in whole.metric}
        assert metrics["Wall time"] == formatting.duration(wall_ns)
        assert metrics["Device busy"] == formatting.duration(device["busy_ns"])
        assert metrics["Idle"] == formatting.duration(wall_ns - device["busy_ns"])


def test_a_run_without_a_device_is_ranked_by_the_host(app, shown_store, run_of):
    page = app(shown_store, "operators", run=run_of("flux_eager_full"))
    assert "no device" in texts(page)
    assert tables(page)[0]["name"].iloc[0] == "aten::addmm"
    assert "no device" in texts(app(shown_store, "bubbles", run=run_of("flux_eager_full")))


def test_a_damaged_run_warns_that_missing_data_looks_idle(app, traces):
    cut = add_cut(traces, "cut", [event("kernel", 0), event("kernel", 500)])
    whole = add_whole(traces, "whole", [event("kernel", 0)])
    expected = f"1 file of **{formatting.literal(cut)}** ended early or failed: missing events look"
    for page in ("operators", "bubbles"):
        for picked in ([cut], [whole, cut]):
            (warning,) = app(traces.store.path, page, run=picked).warning
            assert warning.value.startswith(expected)
        assert not app(traces.store.path, page, run=whole).warning


def test_a_run_that_recompiled_while_it_was_measured_says_so(app, sampled):
    store = sampled.store("flux_compile_recompile")
    [run] = ingest.Store(store).run_ids()
    expected = f"**{formatting.literal(run)}** recompiled 1 time while it was measured, in 41.1 s."
    for page in ("runs", "operators", "bubbles", "memory"):
        assert expected in texts(app(store, page, run=run)), page
    listed = tables(app(store, "runs"))[0]
    assert list(listed["recompiles"]) == [1]


def test_a_damaged_run_without_device_activity_does_not_claim_to_have_no_device(app, traces):
    cut = add_cut(traces, "cut", [event("cpu_op", 0)])
    for page in ("runs", "operators", "bubbles"):
        page_text = texts(app(traces.store.path, page, run=cut))
        assert "ended early or failed: no device activity was read" in page_text
        assert "no device in" not in page_text


def test_every_chart_and_table_shows_its_sql(app, shown_store, run_of):
    sandbox = server.Sandbox(shown_store)
    for page in ("runs", "operators", "bubbles"):
        queries = [
            code.value
            for code in app(shown_store, page, run=run_of("h100_owlv2"), name="aten::bmm").code
            if code.value.startswith("SELECT")
        ]
        assert queries
        for query in queries:
            assert sandbox.query(query).complete, query


def test_a_run_with_damaged_files_is_left_out_with_a_warning(app, store, sampled):
    damaged, other = sampled.add(store, "alexnet_cuda_sync", "cpu_only")
    (store.run_path(damaged) / "kernels.parquet").unlink()
    page = app(store.path, "operators", run=damaged)
    assert [warning.value for warning in page.warning] == [
        f"run {damaged} is left out: kernels.parquet is missing; run `ingest check --repair`"
    ]
    assert "Pick a run" in texts(page)
    page = app(store.path, "operators", run=other)
    assert "kernels.parquet is missing" in texts(page)
    assert "Pick a run" not in texts(page)


def test_a_removed_store_is_named(app, traces):
    traces.add([{"ph": "X", "cat": "cpu_op", "name": "aten::a", "ts": 1, "dur": 1, "pid": 1}])
    pages = [app(traces.store.path, page) for page in ("runs", "operators", "bubbles", "sql")]
    traces.store.path.rename(traces.directory / "elsewhere")
    for page in pages:
        page.run()
        assert not page.exception
        assert "is gone: it was moved or removed" in texts(page)


@pytest.mark.parametrize(
    ("short", "expected"),
    [
        ("0", "rank 0 device 0"),
        ("cuda:1", "rank 1 device 1"),
        ("rank 1 cuda:1", "rank 1 device 1"),
        ("rank 1 1", "rank 1 device 1"),
        ("rank 0 cuda:1", "rank 0 device 0"),  # no such device: the median rank
    ],
)
def test_a_device_in_the_url_may_be_short(app, shown_store, run_of, short, expected):
    page = app(shown_store, "bubbles", run=run_of("two_ranks"), device=short)
    assert page.selectbox(key="device").value == expected
