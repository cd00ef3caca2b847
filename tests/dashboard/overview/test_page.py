"""Page Overview, without a browser."""

import math
import re

import pytest

import ingest
from dashboard.drawing import formatting
from dashboard.widgets import step_picker
from tests.builders.events import op
from tests.builders.pipelines import CALL
from tests.dashboard.elements import (
    add_whole,
    event,
    ratios,
    step_heights,
    table_with,
    tables,
    texts,
)
from tests.helpers.samples import TWO_RANKS

WORKERS = "v100_resnet50_workers0"


def test_the_median_step_has_its_metrics(opened, shown_store, run_of):
    run = run_of(WORKERS)
    metrics = {
        metric.label: metric.value for metric in opened(shown_store, "overview", run=run).metric
    }

    with ingest.connect(shown_store) as connection:
        wall_ns, busy_ns, kernels = connection.execute(
            "SELECT wall_ns, busy_ns, kernels FROM run_metrics WHERE run_id = $1 AND is_default",
            [run],
        ).fetchone()
    assert metrics["Median step"] == formatting.duration(wall_ns)
    assert metrics["Device busy"] == formatting.duration(busy_ns)
    assert metrics["Kernels"] == formatting.count(kernels)


def test_a_step_in_the_url_divides_that_step(app, shown_store, run_of):
    run = run_of(WORKERS)
    with ingest.connect(shown_store) as connection:
        parts = dict(
            connection.execute(
                "SELECT part, ns FROM step_parts WHERE run_id = $1 AND step = 9 AND ns != 0", [run]
            ).fetchall()
        )
        kernel, ns = connection.execute(
            "SELECT name, sum(dur_ns) FROM measured_kernels WHERE run_id = $1 AND step = 9 "
            "GROUP BY name ORDER BY 2 DESC LIMIT 1",
            [run],
        ).fetchone()
    page = app(shown_store, "overview", run=run, step="9")

    assert set(step_heights(page)) == {5, 6, 7, 8, 9, 10}
    assert list(table_with(page, "part_ns")["part_ns"]) == sorted(parts.values(), reverse=True)
    kernels = table_with(page, "device_ns")
    assert (kernels["name"][0], kernels["device_ns"][0]) == (kernel, ns)
    assert "Step 9" in texts(page)


def test_all_steps_together_are_their_sum(app, shown_store, run_of):
    run = run_of(WORKERS)
    with ingest.connect(shown_store) as connection:
        (total_ns,) = connection.execute(
            "SELECT sum(total_ns) FROM run_parts WHERE run_id = $1", [run]
        ).fetchone()
    split = table_with(app(shown_store, "overview", run=run, step="all"), "part_ns")
    assert split["part_ns"].sum() == total_ns


def test_an_unknown_step_is_removed_from_the_url(app, shown_store, run_of):
    page = app(shown_store, "overview", run=run_of(WORKERS), step="1000")
    assert "step" not in page.query_params
    assert "Step 6, the median" in texts(page)
    assert page.toast[0].value == "This run has no step 1000. The page shows the median step."
    page = app(shown_store, "overview", run=run_of(TWO_RANKS), device="99")
    assert page.toast[0].value == "This run has no device 99. The page shows rank 0 device 0."


def test_runs_of_all_kinds_have_an_overview(opened, shown_store, run_of, memory_store, memory_run):
    """Runs of a host, of several ranks, without steps, and of snapshots only."""
    for name in ("flux_eager_full", TWO_RANKS, "h100_owlv2"):
        page = opened(shown_store, "overview", run=run_of(name))
        assert not page.exception
        assert page.metric
        assert len(tables(page)[1]) == 5
    page = opened(memory_store, "overview", run=memory_run("train_ctx512"))
    assert [metric.label for metric in page.metric] == ["Peak memory"]
    assert "There is no trace here" in texts(page)


def test_a_run_without_steps_is_one_recording(app, traces):
    run = add_whole(traces, "one", [event("kernel", 0), event("kernel", 500)])
    page = app(traces.store.path, "overview", run=run)
    assert "No steps were found" in texts(page)
    assert page.metric[0].label == "Whole recording"


@pytest.mark.parametrize(("picked", "first", "last"), [("5", 5, 7), ("8", 7, 9), ("10", 8, 10)])
def test_only_steps_near_the_picked_one_are_drawn_if_there_are_many(
    picked, first, last, app, shown_store, run_of, monkeypatch
):
    monkeypatch.setattr(step_picker, "MAX_BARS", 3)
    run = run_of(WORKERS)
    page = app(shown_store, "overview", run=run, step=picked)
    with ingest.connect(shown_store) as connection:
        walls = connection.execute(
            "SELECT step, wall_ns FROM step_metrics "
            "WHERE run_id = $1 AND step BETWEEN $2 AND $3 ORDER BY step",
            [run, first, last],
        ).fetchall()
    drawn = step_heights(page)
    assert list(drawn) == [step for step, _ in walls]
    assert ratios(drawn.values()) == pytest.approx(ratios(wall_ns for _, wall_ns in walls))
    assert f"Steps {first} to {last} of 6 are shown." in texts(page)


def test_a_step_that_dwarfs_the_others_makes_the_axis_logarithmic(app, traces):
    steps = {"Cold": 9_000_000, "Warm": 90, "Hot": 9}  # µs
    starts = [sum(list(steps.values())[:place]) for place in range(len(steps))]
    trace = [
        part
        for place, (start, length) in enumerate(zip(starts, steps.values(), strict=True))
        for part in (
            op(f"ProfilerStep#{place}", start, length, cat="user_annotation"),
            op("aten::mm", start, length),
        )
    ]
    page = app(traces.store.path, "overview", run=add_whole(traces, "cold", trace))
    assert "The axis is logarithmic" in texts(page)
    # The axis begins at 1 µs.
    decades = [math.log10(length) for length in steps.values()]
    assert ratios(step_heights(page).values()) == pytest.approx(ratios(decades))


def test_a_single_step_is_a_number(opened, shown_store, run_of):
    page = opened(shown_store, "overview", run=run_of("h100_owlv2"))
    (step,) = (metric for metric in page.metric if metric.label.endswith("the only one"))
    assert step.value == "1.21 s"
    assert "The axis is logarithmic" not in texts(page)


def test_the_stages_of_a_pipeline_add_up_to_its_call(app, traces):
    run = add_whole(traces, "flux", [*CALL, op("aten::mm", 12, 50)])
    page = app(traces.store.path, "overview", run=run)
    rows = table_with(page, "wall_ns").set_index("stage")["wall_ns"] // 1000
    names = [name.strip() for name in rows.index]
    inside = ["encode", "denoise", "Double", "outside of blocks", "Single", "decode", "other"]
    assert names == ["call", *inside]
    assert rows.iloc[0] == sum(rows.iloc[[1, 2, 6, 7]]) == 100
    assert rows.iloc[2] == sum(rows.iloc[3:6])


def test_a_run_without_a_pipeline_has_no_stages(opened, shown_store, run_of):
    page = opened(shown_store, "overview", run=run_of(WORKERS))
    assert "Stages of the pipeline" not in texts(page)


def test_tensorboards_parts_add_up_to_the_steps(app, shown_store, run_of):
    run = run_of("v100_resnet50_workers4")
    with ingest.connect(shown_store) as connection:
        [(kernel_ns,)] = connection.execute(
            "SELECT sum(kernel_ns)::BIGINT FROM tensorboard_steps WHERE run_id = $1", [run]
        ).fetchall()
        outliers = connection.execute(
            "SELECT step, part FROM tensorboard_outliers WHERE run_id = $1 ORDER BY step", [run]
        ).fetchall()
    page = app(shown_store, "overview", run=run, step="all", tensorboard="true")
    [parts] = [each for each in tables(page) if {"kernel", "data loader"} <= set(each.iloc[:, 0])]
    assert parts.set_index("part")["part_ns"]["kernel"] == kernel_ns
    assert outliers
    for step, part in outliers:
        sentence = f"Step {step}\\*\\* differs by .*, mostly {part.replace('_', ' ')}: "
        assert re.search(sentence, texts(page))


def test_the_dashboard_opens_with_the_run_of_a_name(script, shown_store, run_of):
    page = script("--store", str(shown_store), "--run", WORKERS).run()
    assert "Step 6, the median" in texts(page)
    assert page.query_params["run"] == run_of(WORKERS)
