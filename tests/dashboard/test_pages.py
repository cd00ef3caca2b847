"""The pages' logic, without a browser."""

import json
import time

import pyarrow as pa
import pytest

import ingest
from dashboard.sql.page import EXAMPLES
from dashboard.widgets import formatting

MARKS = 4_500  # "a few thousand" marks, the most that a page's charts may send


def texts(app) -> str:
    """All that a page says outside of tables and charts."""
    said = [*app.title, *app.caption, *app.markdown, *app.info, *app.warning, *app.error, *app.code]
    return "\n".join([*(str(element.value) for element in said), *(m.value for m in app.metric)])


def test_an_empty_store_says_what_to_do_next(app, tmp_path):
    for page in ("runs", "operators", "bubbles"):
        assert "ingest add run_dir/" in texts(app(tmp_path / "store", page))
    assert not app(tmp_path / "store", "sql").exception


def test_a_directory_that_is_no_store_is_named(app, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    assert str(tmp_path) in texts(app(tmp_path, "runs"))


def test_a_single_run_is_picked_by_itself(app, tmp_path, samples):
    run = ingest.Store(tmp_path / "store").add(samples / "traces" / "cpu_only.json.gz").run_id
    assert app(tmp_path / "store", "operators").multiselect(key="run").value == [run]


def test_without_a_pick_the_page_asks_for_one(app, shown_store):
    assert "Pick a run" in texts(app(shown_store, "operators"))
    assert "Pick a run" in texts(app(shown_store, "bubbles"))


def test_an_unknown_run_gets_a_clear_word(app, shown_store, run_of):
    page = app(shown_store, "operators", run=["gone-12345678", run_of("h100_owlv2")])
    (warning,) = page.warning
    assert r"gone\-12345678" in warning.value
    assert page.multiselect(key="run").value == [run_of("h100_owlv2")]


def test_figures_are_those_computed_elsewhere(app, shown_store, run_of, truth):
    device = truth["h100_owlv2.json.gz"]["devices"]["0"]
    for page in ("operators", "bubbles"):
        metrics = {
            m.label: m.value for m in app(shown_store, page, run=run_of("h100_owlv2")).metric
        }
        assert metrics["Span"] == formatting.duration(device["span_ns"])
        assert metrics["Busy"] == formatting.duration(device["busy_ns"])
        assert metrics["Bubble"] == formatting.duration(device["bubble_ns"])


def test_kernels_are_ranked_as_computed_elsewhere(app, shown_store, run_of, truth):
    page = app(shown_store, "operators", run=run_of("h100_owlv2"), level="kernel")
    table = next(frame.value for frame in page.dataframe if "percent" in frame.value)
    expected = truth["h100_owlv2.json.gz"]["top_kernels"][:5]
    assert table[table["name"] != "bubble"].head(5)[
        ["name", "calls", "device_ns"]
    ].values.tolist() == [list(row) for row in expected]
    assert "bubble" in set(table["name"])


def test_a_run_without_a_device_is_ranked_by_the_host(app, shown_store, run_of):
    page = app(shown_store, "operators", run=run_of("flux_eager_full"))
    assert "no device" in texts(page)
    assert "aten::addmm" in set(page.dataframe[0].value["op"])
    assert "no device" in texts(app(shown_store, "bubbles", run=run_of("flux_eager_full")))


def event(category, start, name="a"):
    """A complete event of 10 µs."""
    return {"ph": "X", "cat": category, "name": name, "ts": start, "dur": 10, "pid": 0, "tid": 7}


def add_cut(traces, name, events):
    """A run of a file that ends within its last event."""
    text = json.dumps({"traceEvents": [*events, event("cpu_op", 0)]})
    return traces.store.add(traces.write(text[:-10], name)).run_id


def add_whole(traces, name, events):
    return traces.store.add(traces.write(events, name)).run_id


def test_a_damaged_run_says_that_what_is_missing_looks_like_idleness(app, traces):
    cut = add_cut(traces, "cut", [event("kernel", 0), event("kernel", 500)])
    whole = add_whole(traces, "whole", [event("kernel", 0)])
    said = f"1 file of **{formatting.literal(cut)}** ended early or failed: what is missing looks"
    for page in ("operators", "bubbles"):
        for picked in ([cut], [whole, cut]):
            (warning,) = app(traces.store.path, page, run=picked).warning
            assert warning.value.startswith(said)
        assert not app(traces.store.path, page, run=whole).warning


def test_a_run_that_recompiled_while_it_was_measured_says_so(app, tmp_path, samples):
    store = ingest.Store(tmp_path / "store")
    run = store.add(samples / "traces" / "cpu" / "flux_compile_recompile.json.gz").run_id
    said = f"**{formatting.literal(run)}** recompiled 1 time while it was measured, in 41.1 s."
    for page in ("runs", "operators", "bubbles", "memory"):
        assert said in texts(app(store.path, page, run=run)), page
    listed = app(store.path, "runs").dataframe[0].value
    assert list(listed["recompiles"]) == [1]


def test_a_damaged_run_without_device_activity_is_not_said_to_have_no_device(app, traces):
    cut = add_cut(traces, "cut", [event("cpu_op", 0)])
    for page in ("runs", "operators", "bubbles"):
        said = texts(app(traces.store.path, page, run=cut))
        assert "ended early or failed: no device activity was read" in said
        assert "no device in" not in said


def test_a_run_without_a_device_has_no_figures_of_one(app, traces):
    run = add_whole(traces, "host", [event("cpu_op", 0)])
    page = app(traces.store.path, "runs", run=run)
    assert {m.label: m.value for m in page.metric} == {"Complete events": "1"}
    assert "There is no device" in texts(page)


def test_files_say_first_what_went_wrong_and_count_in_words(app, traces):
    flow = {"ph": "s", "id": 1, "cat": "ac2g", "name": "ac2g", "ts": 1, "pid": 0, "tid": 7}
    run = add_cut(traces, "cut", [event("kernel", 0), flow, {**flow, "ts": 2}])
    files = app(traces.store.path, "runs", run=run).dataframe[1].value
    assert list(files.columns[:3]) == ["file", "status", "warnings"]
    (file,) = files.to_dict("records")
    assert (file["file"], file["status"]) == ("cut.json", "truncated")
    assert file["path"] == str(traces.directory / "cut.json")
    assert (file["complete"], file["other"]) == (1, "2 flow starts")
    assert "dropped" not in file  # as nothing was


def test_bubbles_begin_with_a_run_that_has_a_device(app, traces):
    host = add_whole(traces, "host", [event("cpu_op", 0)])
    device = add_whole(traces, "device", [event("kernel", 0)])
    page = app(traces.store.path, "bubbles", run=[host, device])
    assert page.selectbox(key="of").value == device
    assert len(page.get("vega_lite_chart")) > 1
    page.selectbox(key="of").select(host).run()
    assert "no device" in texts(page)
    assert len(page.get("vega_lite_chart")) == 1


def test_runs_whose_ids_begin_alike_have_bars_of_their_own(app, traces):
    name = "a_long_name_of_a_training_run_that_others_share"
    runs = [add_whole(traces, name + end, [event("kernel", 0, end)]) for end in ("_one", "_two")]
    page = app(traces.store.path, "bubbles", run=runs)
    split = pa.ipc.open_stream(page.get("vega_lite_chart")[0].proto.datasets[0].data.data)
    shares = split.read_all().group_by("bar").aggregate([("percent", "sum")]).to_pydict()
    assert shares == {
        "bar": [f"{run}, rank 0 device 0" for run in sorted(runs)],
        "percent_sum": [100, 100],
    }


def test_each_rank_can_be_looked_at(app, shown_store, run_of):
    page = app(shown_store, "operators", run=run_of("two_rank"))
    assert page.selectbox(key="device").options == [
        "all devices",
        "rank 0 device 0",
        "rank 1 device 1",
    ]
    assert "Span of 2 devices" in {m.label for m in page.metric}
    one = page.selectbox(key="device").select("rank 1 device 1").run()
    assert {m.label: m.value for m in one.metric}["Span"] == "1.23 s"


def test_search_narrows_the_ranking(app, shown_store, run_of):
    page = app(shown_store, "operators", run=run_of("h100_owlv2"))
    page.text_input(key="q").set_value("SOFT").run()
    assert list(page.dataframe[0].value["name"]) == ["aten::softmax"]
    page.text_input(key="q").set_value("no such thing").run()
    assert "clear the search" in texts(page)


def test_several_runs_stand_side_by_side(app, shown_store, run_of):
    runs = [run_of("v100_resnet50_workers0"), run_of("v100_resnet50_workers4")]
    page = app(shown_store, "operators", run=runs)
    assert list(page.dataframe[1].value.columns) == ["name", *runs]
    assert page.dataframe[1].value["name"].iloc[0] == "bubble"


def test_a_name_in_the_url_opens_its_details(app, shown_store, run_of):
    page = app(shown_store, "operators", run=run_of("h100_owlv2"), name="aten::bmm")
    assert [tab.label for tab in page.tabs] == ["Kernels", "Shapes", "Calls"]


@pytest.mark.parametrize("window", [{}, {"from": "0", "to": "5000000"}, {"from": "x", "to": "-1"}])
def test_no_more_than_a_few_thousand_marks_are_sent(app, shown_store, run_of, window):
    for run in ("h100_owlv2", "v100_resnet50_workers0", "two_rank"):
        page = app(shown_store, "bubbles", run=run_of(run), **window)
        assert 10 < sum(marks(chart) for chart in page.get("vega_lite_chart")) < MARKS


def marks(chart) -> int:
    """Rows of the data that a chart carries."""
    return sum(
        pa.ipc.open_stream(dataset.data.data).read_all().num_rows
        for dataset in chart.proto.datasets
    )


def test_every_chart_and_table_shows_its_sql(app, shown_store, run_of):
    console = ingest.Console(shown_store)
    for page in ("runs", "operators", "bubbles"):
        queries = [
            code.value
            for code in app(shown_store, page, run=run_of("h100_owlv2"), name="aten::bmm").code
            if code.value.startswith("SELECT")
        ]
        assert queries
        for query in queries:
            assert console.query(query).complete, query


def test_names_that_mean_harm_are_shown_as_they_are(app, traces):
    long = "aten::" + "x" * 100_000
    events = []
    for place, name in enumerate([long, "<script>alert(1)</script>", "'; DROP VIEW runs; --"]):
        when = {"ts": 1000 * place, "pid": 1, "tid": 1, "ph": "X"}
        ids = {"correlation": place + 1, "External id": place + 1}
        events += [
            {**when, "cat": "cpu_op", "name": name, "dur": 100, "args": {"External id": place + 1}},
            {**when, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "dur": 5, "args": ids},
            {
                **when,
                "cat": "kernel",
                "name": f"void {name}<int>()",
                "dur": 50,
                "pid": 0,
                "tid": 7,
                "args": {**ids, "device": 0, "stream": 7},
            },
        ]
    store = traces.store
    labels = ingest.RunLabels(name="<script>alert('run')</script>", tags={"it's": "a=b <i>"})
    store.add(traces.write(events), labels)
    for page in ("runs", "operators", "bubbles", "sql"):
        assert not app(store.path, page).exception
    for name in (long, "'; DROP VIEW runs; --"):
        page = app(store.path, "operators", name=name)
        assert not page.exception
        assert page.tabs
    tagged = app(store.path, "runs", tag="it's=a=b <i>", q="<script>")
    assert len(tagged.dataframe[0].value) == 1


def test_hundreds_of_runs_are_found_and_shown_at_once(app, shown_store, tmp_path, run_of):
    runs = tmp_path / "store" / "runs"
    ingest.Store(tmp_path / "store")
    source = shown_store / "runs" / f"run_id={run_of('flux_eager_full')}"
    for number in range(300):
        copy = runs / f"run_id=copy_{number:03}-{number:08x}"
        copy.mkdir()
        for file in source.iterdir():
            (copy / file.name).hardlink_to(file)
    assert len(app(tmp_path / "store", "runs").dataframe[0].value) == 300
    started = time.perf_counter()
    page = app(tmp_path / "store", "runs", find="copy_123", run="copy_299-0000012b")
    assert list(page.dataframe[0].value["run_id"]) == ["copy_123-0000007b"]
    assert time.perf_counter() - started < 5


def test_a_run_added_meanwhile_shows_up_on_reload(app, tmp_path, samples):
    store = ingest.Store(tmp_path / "store")
    store.add(samples / "traces" / "cpu_only.json.gz")
    page = app(store.path, "runs")
    assert len(page.dataframe[0].value) == 1
    store.add(samples / "traces" / "mi210_gpu_only.json.gz")
    assert len(page.run().dataframe[0].value) == 2


def test_the_console_answers_and_refuses(app, shown_store):
    page = app(shown_store, "sql", sql="SELECT 6 * 7 AS answer")
    assert page.dataframe[0].value["answer"].tolist() == [42]
    refused = app(shown_store, "sql", sql="DROP VIEW runs")
    assert "DROP is not allowed" in texts(refused).replace("\\", "")


def test_a_query_runs_once_until_it_is_asked_again(app, shown_store):
    page = app(shown_store, "sql", sql="SELECT random() AS r")
    first = page.dataframe[0].value["r"].tolist()
    page.text_input(key="schema").set_value("kernel").run()
    assert page.dataframe[0].value["r"].tolist() == first
    page.button[0].click().run()
    assert page.dataframe[0].value["r"].tolist() != first


def test_long_results_are_shown_in_part(app, shown_store):
    query = "SELECT repeat('x', 20000) AS wide, range(1000) AS list FROM range(3000)"
    page = app(shown_store, "sql", sql=query)
    shown = page.dataframe[0].value
    assert len(shown) == 1_000
    assert shown["wide"].str.len().max() == 1_001
    assert shown["list"].str.len().max() == 1_001
    assert "a result ends at 64 MiB" in texts(page)
    columns = ", ".join(f"range AS c{number}" for number in range(300))
    page = app(shown_store, "sql", sql=f"SELECT {columns} FROM range(3)")
    assert page.dataframe[0].value.shape == (3, 200)
    assert "the first 200 columns are shown" in texts(page)


def test_a_store_that_went_away_is_named(app, traces):
    traces.add([{"ph": "X", "cat": "cpu_op", "name": "aten::a", "ts": 1, "dur": 1, "pid": 1}])
    pages = [app(traces.store.path, page) for page in ("runs", "operators", "bubbles", "sql")]
    traces.store.path.rename(traces.directory / "elsewhere")
    for page in pages:
        page.run()
        assert not page.exception
        assert "is gone: it was moved or removed" in texts(page)


def test_integers_that_a_browser_would_round_are_text(app, shown_store):
    page = app(shown_store, "sql", sql="SELECT 9007199254740993 AS big, 5 AS small")
    assert page.dataframe[0].value["big"].tolist() == ["9007199254740993"]
    assert page.dataframe[0].value["small"].tolist() == [5]


def test_values_are_shown_whole(app, shown_store):
    query = """
        SELECT 1.50::DECIMAL(9, 2) AS price, INTERVAL 3 DAY AS wait, NULL::DOUBLE AS none,
            TIMESTAMP '2026-01-01 01:02:03.123456' AS moment
    """
    (row,) = app(shown_store, "sql", sql=query).dataframe[0].value.to_dict("records")
    assert (row["price"], row["wait"]) == ("1.50", "3 days")
    assert row["moment"] == "2026-01-01 01:02:03.123456"


def test_the_schema_lists_tables_before_views_and_says_when_nothing_fits(app, shown_store):
    page = app(shown_store, "sql")
    listed = [entry.label for entry in page.expander]
    tables = sorted(path.stem for path in next(shown_store.glob("runs/*")).glob("*.parquet"))
    assert listed[: len(tables)] == tables
    assert "op_ranking" in listed[len(tables) :]
    page.text_input(key="schema").set_value("no such word").run()
    assert not page.expander
    assert "clear the search" in texts(page)


@pytest.mark.parametrize("query", EXAMPLES.values(), ids=EXAMPLES)
def test_every_example_has_an_answer(shown_store, query):
    assert ingest.Console(shown_store).query(query).table.num_rows > 0
