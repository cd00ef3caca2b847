"""Page Memory without a browser: metrics, moments, zoom, comparison and empty states."""

import re

import pytest

import ingest
from dashboard.drawing import formatting
from dashboard.memory.segments import packed
from ingest import server
from tests.builders.leaking import MIB, leaking
from tests.dashboard.elements import data_of, lanes, table_with, tables

PEAK = 12_426_629_128  # the peak of train_ctx512 in MemoryViz
TOP = "model.py:39 forward", 2_179_563_520
MARKS = 4_500
HARMFUL = ("<b>keep</b> $x$", "**act** [a](b)", "'; DROP TABLE runs;--")


def texts(page):
    """Return all texts of a page outside of tables and charts."""
    assert not page.exception, page.exception
    kinds = [page.caption, page.markdown, page.info, page.warning, page.error, page.code]
    return "\n".join(str(element.value) for kind in kinds for element in kind)


def metrics(page):
    return {metric.label: metric.value for metric in page.metric}


def owners(page):
    return table_with(page, "name")


def queries(page, source):
    """Return the queries on the page that read a view or macro."""
    return [code.value for code in page.code if re.search(rf"FROM {source}\b", code.value)]


def data_sets(page):
    """Return the data of all charts."""
    return [table for chart in page.get("vega_lite_chart") for table in data_of(chart)]


def rows_sent(page):
    return [each.num_rows for each in data_sets(page)]


def sent(page, column):
    """Return the rows of charts that have a column."""
    having = [each for each in data_sets(page) if column in each.column_names]
    return [row for each in having for row in each.to_pylist()]


@pytest.fixture
def memory(opened, memory_store, memory_run):
    """A function that opens page Memory on named runs. Tests share the page."""

    def run(*names, **query):
        return opened(memory_store, "memory", run=[memory_run(name) for name in names], **query)

    return run


@pytest.fixture
def own_page(app, memory_store, memory_run):
    """A function that opens page Memory on train_ctx512, for use by one test only."""
    return lambda **query: app(memory_store, "memory", run=memory_run("train_ctx512"), **query)


@pytest.fixture
def largest(memory_store, memory_run):
    """The id of the top line of code's largest allocation at the peak."""
    query = (
        "WITH moment AS (FROM memory_timeline WHERE run_id = $1 AND ordinal = 3485) "
        "SELECT arg_max(allocation_id, held.bytes) FROM memory_allocations_at('moment') AS held "
        "INNER JOIN memory_owners AS owner USING (run_id, allocation_id) "
        "WHERE level = 'frame' AND name = $2"
    )
    with ingest.connect(memory_store) as connection:
        return str(connection.execute(query, [memory_run("train_ctx512"), TOP[0]]).fetchone()[0])


def test_the_peak_and_its_owners_match_independent_results(memory):
    page = memory("train_ctx512")
    assert metrics(page)["Peak"] == formatting.size(PEAK) == "11.57 GiB"
    assert metrics(page)["Stranded at the end"] == formatting.size(1_051_377_152)
    table = owners(page)
    known = table[~table["name"].str.startswith("(")]
    assert tuple(known[["name", "bytes"]].iloc[0]) == TOP
    assert table["bytes"].sum() == PEAK


def test_a_history_with_annotations(memory):
    page = memory("full_history_annotations")
    assert metrics(page)["Peak"] == formatting.size(1_783_664_516)
    table = owners(page).set_index("name")
    assert tuple(table.loc["client.py:176 reset_model", ["bytes", "allocations"]]) == (
        500_957_184,
        196,
    )


@pytest.mark.parametrize("name", ["train_ctx512", "full_history_annotations", "flux_eager_full"])
def test_at_most_a_few_thousand_rows_are_sent(memory, name):
    for query in ({}, {"axis": "order"}):
        page = memory(name, **query)
        boxes = [len(chart["boxes"]["start"]) for chart in lanes(page)]
        assert 10 < sum(rows_sent(page)) + sum(boxes) < MARKS


def test_zooming_queries_the_shorter_range(memory, own_page):
    (whole,) = queries(memory("train_ctx512", axis="order"), "memory_by_owner_over_time")
    page = own_page(axis="order", mfrom="3000", mto="4000")
    (zoomed,) = queries(page, "memory_by_owner_over_time")
    assert "'order', 0, 22331, " in whole
    assert "'order', 3000, 4000, " in zoomed
    assert "1,000 actions from 3,000 to 4,000" in texts(page)
    page.button(key=next(b.key for b in page.button if b.label == "All")).click().run()
    assert queries(page, "memory_by_owner_over_time") == [whole]


@pytest.mark.parametrize(("since", "until"), [("9", "9"), ("a", "5"), ("7", "3"), ("90000", "")])
def test_an_invalid_range_shows_the_whole_axis(memory, since, until):
    page = memory("train_ctx512", axis="order", mfrom=since, mto=until)
    assert "22,331 actions from 0 to 22,331" in texts(page)


def test_a_moment_changes_the_sections_below(memory, own_page):
    peak = memory("train_ctx512")
    page = own_page(at="22331")
    assert peak.subheader[1].value == "What held the memory at the peak"
    assert page.subheader[1].value == "What held the memory at the end"
    assert owners(page)["bytes"].sum() == 6_829_260_804
    assert "**0.98 GiB** stranded" in texts(page)  # from the blocks in the snapshot
    assert "The segments are replayed" in texts(peak)
    assert "The segments are replayed" not in texts(page)
    page.button(key=next(b.key for b in page.button if b.label == "Peak")).click().run()
    assert owners(page)["bytes"].sum() == PEAK


@pytest.mark.parametrize("at", ["x", "-2", "22332"])
def test_an_invalid_moment_means_the_peak(memory, at):
    assert owners(memory("train_ctx512", at=at))["bytes"].sum() == PEAK


def test_an_owner_shows_its_allocations_and_an_allocation_its_stack(own_page, largest):
    page = own_page(owner=TOP[0], allocation=largest)
    lived = table_with(page, "lived")
    assert lived["bytes"].is_monotonic_decreasing
    assert lived["lived"].iloc[0] == "to the end"
    own = table_with(page, "depth")
    assert "model.py:39" in own["filename"].iloc[0]
    assert "68 frames" in texts(page)
    assert len(own) < 20
    page.toggle(key="stack-all").set_value(True).run()
    assert list(table_with(page, "depth")["depth"]) == list(range(68))


def test_memory_can_be_divided_by_module(memory):
    page = memory("train_ctx512", by="module")
    assert "model.py forward" in set(owners(page)["name"])
    assert page.segmented_control(key="by").options == ["frame", "module", "allocation"]


def test_memory_can_be_divided_by_allocation(memory, largest):
    page = memory("train_ctx512", by="allocation", allocation=largest)
    cells, about = sent(page, "bottom"), sent(page, "line0")
    assert len(sent(page, "position")) < MARKS
    assert {cell["allocation_id"] for cell in cells} == {row["allocation_id"] for row in about}
    assert len(about) == 64
    lines = [[row[f"line{index}"] for index in range(5)] for row in about]
    softmax = next(line for line in lines if line[3] == "nn_utils.py:6 softmax")
    assert softmax[:3] == ["64.00 MiB", "173 ms", "at action 84, 1.92 ms after the first"]
    assert softmax[4] == "nn_utils.py:6 softmax (your own)"
    assert any(line[4].endswith("C++ frames, no Python frames") for line in lines)
    table = table_with(page, "lived")
    assert len(table) == 200
    assert table["bytes"].is_monotonic_decreasing
    assert {"nn_utils.py:6 softmax", TOP[0]} <= set(table["user_frame"])
    assert "of 68 frames" in texts(page)


@pytest.mark.parametrize("name", ["private_pools_no_history", "flux_eager_full"])
def test_allocations_without_history_or_stacks(memory, name):
    page = memory(name, by="allocation")
    table = table_with(page, "lived")
    assert not table.empty
    colours_of = {row["colour"] for row in sent(page, "line0")}
    assert (len(colours_of) > 1) == (name == "flux_eager_full")  # by operator


def test_advice_lists_findings_and_unknown_checks(memory):
    page = memory("full_history_annotations")
    (advice,) = [each for each in page.expander if each.label.startswith("Advice")]
    assert advice.label == (
        "Advice: expandable segments **80.96 MiB** · free between allocations **80.96 MiB** · "
        "largest owners **1.22 GiB**"
    )
    assert [metric.value for metric in advice.metric] == ["80.96 MiB", "80.96 MiB", "1.22 GiB"]
    text = "\n".join(each.value for each in [*advice.markdown, *advice.caption])
    assert formatting.literal("client.py:176 reset_model (28.1%)") in text
    assert formatting.literal("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True") in text
    assert "Unknown because fewer than three steps are known: growth over the steps." in text


@pytest.fixture(scope="module")
def leak(tmp_path_factory):
    """A store of a run whose memory grows until it runs out of memory."""
    root = tmp_path_factory.mktemp("leak")
    store = ingest.Store(root / "store")
    store.add(leaking(5, HARMFUL).write(root / "oom.pickle"))
    return store.path


def test_advice_finds_memory_that_grows_over_the_steps(app, leak):
    page = app(leak, "memory", by="allocation")
    (advice,) = [each for each in page.expander if each.label.startswith("Advice")]
    assert "growth over the steps **400.00 MiB**" in advice.label
    assert formatting.literal(f"100.00 MiB behind, at train.py:7 {HARMFUL[0]}.") in texts(page)


def test_advice_without_findings(memory):
    page = memory("flux_eager_full")
    (advice,) = [each for each in page.expander if each.label.startswith("Advice")]
    assert advice.label == "Advice: no findings"
    assert advice.caption[0].value == "No finding: largest owners."


def test_a_snapshot_without_history_shows_only_its_state(memory):
    page = memory("private_pools_no_history")
    assert "The snapshot has no history" in texts(page)
    assert not queries(page, "memory_curve")
    assert metrics(page)["In use"] == "23.73 GiB"
    assert "**127 segments**" in texts(page)
    pools = table_with(page, "segments")
    assert set(pools["pool"]) == {"(0, 0)", "(0, 1)", "(0, 2)"}


def test_memory_of_a_cpu_by_operator(memory):
    page = memory("flux_eager_full")
    assert "CPU memory" in texts(page)
    assert "aten::empty" in set(owners(page)["name"])
    assert "Memory by operator" in [tab.label for tab in page.tabs]


def test_without_addresses_there_is_a_curve_and_a_notice(memory):
    page = memory("v100_resnet50_workers0")
    assert "No addresses were recorded" in texts(page)
    assert page.selectbox(key="memory").options == ["rank 0 cuda:0", "rank 0 cpu"]
    assert metrics(page)["Peak"] == formatting.size(2_791_636_480)


@pytest.mark.parametrize("device", ["cuda:0", "0"])
def test_a_link_may_have_a_device_or_only_its_number(memory, device):
    page = memory("v100_resnet50_workers0", memory=f"rank 0 {device}")
    assert page.selectbox(key="memory").value == "rank 0 cuda:0"
    page = memory("v100_resnet50_workers0", memory="rank 0 cpu")
    assert page.selectbox(key="memory").value == "rank 0 cpu"


def test_a_memory_timeline_has_only_categories(memory):
    page = memory("memory_timeline.raw")
    assert "only categories" in texts(page)
    assert {"ACTIVATION", "PARAMETER"} <= set(owners(page)["name"])
    assert metrics(page)["Peak"] == formatting.size(3_082_832_104)


def test_a_run_without_memory_data_shows_how_to_record_it(memory):
    text = texts(memory("two_rank_rank0"))
    assert "This run has no memory data" in text
    assert "capture run --profile-activities CPU GPU MEM" in text
    assert "torch.cuda.memory._record_memory_history()" in text


def test_two_runs_side_by_side(memory):
    page = memory("train_ctx512", "train_ctx128")
    rows, lines = (each for each in tables(page) if "change_bytes" in each)
    assert list(rows["name"]) == ["peak", "peak reserved", "start", "end"]
    assert rows["base_bytes"].iloc[0] == PEAK
    assert (lines["change_bytes"] == lines["other_bytes"] - lines["base_bytes"]).all()
    assert lines["change_bytes"].abs().is_monotonic_decreasing
    assert lines["change_bytes"].sum() == rows["change_bytes"].iloc[0]


def test_two_of_several_runs_are_compared(memory, memory_run):
    names = ["train_ctx512", "train_ctx128", "full_history_annotations", "two_rank_rank0"]
    page = memory(*names, base=memory_run("full_history_annotations"))
    assert "Runs without memory data" in texts(page)
    rows = table_with(page, "change_bytes")
    assert tuple(rows[["base_bytes", "other_bytes"]].iloc[0]) == (1_783_664_516, PEAK)


def test_out_of_memory_errors_come_first(app, leak):
    page = app(leak, "memory")
    assert page.subheader[0].value == "Out of memory"
    (error,) = page.error
    assert "**1.46 GiB** were requested" in error.value
    assert formatting.literal(f"train.py:7 {HARMFUL[2]}") in error.value
    assert "1.37 GiB in use and 648.00 MiB free (largest piece 524.00 MiB)" in error.value
    assert "Out of memory" in [button.label for button in page.button]
    page.session_state["memory-report"] = "Leaks"
    leaks = table_with(page.run(), "is_growing")
    assert leaks[["user_frame", "bytes", "is_growing"]].values.tolist() == [
        [f"train.py:7 {HARMFUL[0]}", 400 * MIB, True]
    ]


def test_every_query_on_the_page_runs_in_the_sandbox(memory, memory_store, largest):
    sandbox = server.Sandbox(memory_store)
    for runs in (["train_ctx512"], ["flux_eager_full"], ["train_ctx512", "train_ctx128"]):
        page = memory(*runs, owner=TOP[0], allocation=largest)
        shown = [code.value for code in page.code if code.value.startswith(("SELECT", "WITH"))]
        assert len(shown) >= 4
        for query in shown:
            assert sandbox.query(query).complete, query


def test_segments_are_packed_without_overlap(memory_store, memory_run):
    query = (
        "WITH moment AS (FROM memory_timeline WHERE run_id = $1 AND ordinal = 22331) "
        "FROM memory_map('moment', 600, 1200) ORDER BY segment_ordinal, offset_bytes"
    )
    with ingest.connect(memory_store) as connection:
        frame = connection.execute(query, [memory_run("train_ctx512")]).df()
    filled = frame.groupby("segment_ordinal").agg({"bytes": "sum", "segment_bytes": "first"})
    assert (filled["bytes"] == filled["segment_bytes"]).all()
    after = frame.groupby("segment_ordinal")["offset_bytes"].shift(-1)
    ends = frame["offset_bytes"] + frame["bytes"]
    assert (ends[after.notna()] == after.dropna()).all()
    packing = packed(frame).sort_values(["row", "offset"])
    following = packing.groupby("row")["offset"].shift(-1)
    ends = packing["offset"] + packing["segment_bytes"]
    assert (ends[following.notna()] < following.dropna()).all()
    assert packing["row"].nunique() < 40


def test_small_neighbours_with_the_same_state_are_merged(memory_store, memory_run):
    query = (
        "WITH moment AS (FROM memory_timeline WHERE run_id = $1 AND ordinal = 3485) "
        "SELECT state, sum(bytes)::BIGINT, sum(blocks)::BIGINT, count(*) "
        "FROM memory_map('moment', 600, $2) GROUP BY state ORDER BY state"
    )
    run = memory_run("train_ctx512")
    with ingest.connect(memory_store) as connection:
        separate = connection.execute(query, [run, 100_000]).fetchall()
        merged = connection.execute(query, [run, 50]).fetchall()
    assert [row[:3] for row in merged] == [row[:3] for row in separate]
    assert sum(row[3] for row in merged) < sum(row[3] for row in separate)
    assert all(row[2] == row[3] for row in separate)


def test_page_runs_shows_the_peak(app, memory_store, memory_run):
    page = app(memory_store, "runs", run=memory_run("train_ctx512"))
    assert metrics(page) == {"Peak memory": "11.57 GiB"}
    peaks = tables(page)[0].set_index("run_id")["peak_bytes"]
    assert peaks[memory_run("train_ctx512")] == PEAK
    assert peaks.isna()[memory_run("flux_eager_full")]


def test_a_step_opens_at_its_own_peak(app, memory_store, memory_run):
    run = memory_run("v100_resnet50_workers0")
    with ingest.connect(memory_store) as connection:
        at, used = connection.execute(
            "SELECT ordinal, used_bytes FROM memory_timeline AS t JOIN memory_steps AS s "
            "USING (run_id, source_id, device_type, device) WHERE run_id = $1 AND step = 9 "
            "AND device_type = 'cuda' AND ordinal >= start_ordinal - 1 AND ordinal < end_ordinal "
            "ORDER BY used_bytes DESC, ordinal LIMIT 1",
            [run],
        ).fetchone()
        (whole_peak,) = connection.execute(
            "SELECT peak_ordinal FROM memory_peak WHERE run_id = $1 AND device_type = 'cuda'", [run]
        ).fetchone()
    page = app(memory_store, "memory", run=run, step="9")
    assert f"**{formatting.size(used)}** in use" in texts(page)
    (heading,) = [each.value for each in page.subheader if each.value.startswith("What held")]
    assert at != whole_peak
    assert heading.endswith("after the first action")  # not "at the peak"
