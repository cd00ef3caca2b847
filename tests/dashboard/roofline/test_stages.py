"""Page Roofline restricted to a stage of pipeline calls, without a browser."""

import pytest

from ingest import AddOptions
from tests.builders.events import op
from tests.dashboard.elements import add_whole, table_with, tables, texts
from tests.ingest.sql.limits.test_efficiency import BFLOAT16, SQUARE, TAGS, call
from tests.ingest.sql.limits.test_stages import MARKS, WORK

LARGER = [[1000, 1000], [1000, 2000]]


@pytest.fixture(scope="module")
def pipeline(shared_traces):
    """A run with a pipeline call whose stage `encode` is outside of all steps."""
    larger = call("aten::mm", 100, LARGER, [BFLOAT16] * 2, 50)
    run = add_whole(shared_traces, "pipeline", [*MARKS, *WORK, *larger])
    shared_traces.store.edit(run, AddOptions(tags=TAGS))
    return shared_traces.store.path, run


def shown(page):
    return sorted(table_with(page, "saved_ns")["input_dims"])


def test_only_the_operators_of_the_stage_are_shown(app, pipeline):
    store, run = pipeline
    page = app(store, "roofline", run=run, stage="encode")
    assert shown(page) == ["1000×1000, 1000×1000", "1000×1000, 1000×2000"]
    assert "Stage encode is outside of all steps, so all of its calls count." in texts(page)
    assert "Stage encode of Flux, in the call with the median time" in texts(page)


def test_steps_count_in_the_denoising_loop(app, pipeline):
    store, run = pipeline
    rows = {
        step: table_with(app(store, "roofline", run=run, stage="denoise", step=step), "saved_ns")
        for step in ("0", "1", "all")
    }
    names = {step: sorted(table["name"]) for step, table in rows.items()}
    assert names == {"0": ["aten::mm"], "1": ["aten::add"], "all": ["aten::add", "aten::mm"]}
    assert rows["0"]["calls"].tolist() == [2]


def test_a_ticked_row_has_the_calls_of_the_stage(app, pipeline):
    store, run = pipeline
    at = f"aten::mm {SQUARE} bfloat16".replace(", ", ",")
    page = app(store, "roofline", run=run, stage="encode", at=at)
    assert len(table_with(page, "launch_call_ns")) == 1


def test_a_stage_without_known_work_says_so(app, pipeline):
    store, run = pipeline
    page = app(store, "roofline", run=run, stage="decode")
    assert "No operator in stage decode has known work" in texts(page)
    assert tables(page) == []


def test_the_overview_has_what_stages_reach(app, pipeline):
    store, run = pipeline
    rows = table_with(app(store, "overview", run=run), "mfu_percent").set_index("stage")
    assert rows.loc["\u2003denoise", "mfu_percent"] == pytest.approx(
        100 * 40_000 / 400_000, rel=0.1
    )
    assert rows.loc["\u2003encode", "known_percent"] == 100


def test_a_run_without_pipelines_has_no_picker_for_stages(app, shared_traces):
    run = add_whole(shared_traces, "no pipeline", [op("aten::mm", 1, 20)])
    page = app(shared_traces.store.path, "roofline", run=run)
    assert [each.label for each in page.selectbox] == []
