"""From `capture` to `ingest`: run.json and the tables agree."""

from pathlib import Path
from typing import Any

import pytest

import ingest
from capture import Profiler
from ingest.errors import ProfileError
from tests.capture.captured import Captured
from tests.ingest.sql.stages import stages_in_python

pytestmark = pytest.mark.usefixtures("capture_extra")


def added(directory: Path, store: ingest.Store) -> Any:
    """Add the run to an empty store and return a connection to it."""
    store.add(directory)
    return ingest.connect(store.path)


def work() -> None:
    import torch

    torch.nn.Linear(4, 4)(torch.ones(2, 4))


def test_an_eager_run_is_ingested(captured: Captured, store):
    connection = added(captured.directory, store)

    run = captured.run
    [(name, model, mode, version, ranks)] = connection.sql(
        "SELECT name, model, mode, framework_version, world_size FROM runs"
    ).fetchall()
    assert (name, model, mode) == (run["name"], run["model"], run["mode"])
    assert (version, ranks) == (run["framework_version"], 1)
    steps = connection.sql("SELECT step, dur_ns FROM steps ORDER BY step").fetchall()
    assert [step for step, _ in steps] == list(range(run["steps"]))
    marked_ns = [step["dur"] * 1000 for step in captured.named(r"ProfilerStep#\d+")]
    assert [ns for _, ns in steps] == pytest.approx(marked_ns, abs=1000)
    [(ok,)] = connection.sql(
        "SELECT count(*) FROM sources WHERE kind = 'kineto' AND status = 'ok' AND warnings = []"
    ).fetchall()
    assert ok == 1


def test_the_stages_of_a_call_are_ingested(captured: Captured, store):
    connection = added(captured.directory, store)
    assert_stages(connection, captured)
    rows = connection.sql(
        "SELECT stage, block_class, occurrences FROM stage_summary "
        "WHERE block_class IS NOT NULL ORDER BY ALL"
    ).fetchall()
    blocks = [("denoise", f"Flux{kind}TransformerBlock", 6) for kind in ("Single", "")]
    assert rows == blocks
    counted = connection.sql(
        "SELECT stage, operators > 0 FROM stage_summary WHERE level = 'stage' ORDER BY ordinal"
    )
    assert counted.fetchall() == [(s, True) for s in ("encode", "denoise", "decode", "other")]


def test_the_stages_of_another_pipeline_are_ingested(run_loaded_capture, tmp_path, store):
    out = ["--steps", "2", "--warmup", "0", "--profile-memory", "--out", str(tmp_path / "sd")]
    finished = run_loaded_capture("diffusers", "--tiny", *out)
    assert finished.returncode == 0, finished.stderr
    connection = added(tmp_path / "sd", store)
    assert_stages(connection, Captured.read(tmp_path / "sd"))
    rows = connection.sql(
        "SELECT pipeline, stage, block_class, occurrences, peak_bytes > 1000 FROM stage_summary "
        "WHERE level = 'stage' OR block_class IS NOT NULL ORDER BY ordinal, level DESC"
    ).fetchall()
    assert [row[1:] for row in rows] == [
        ("encode", None, 1, True),
        ("denoise", None, 2, True),
        ("denoise", "BasicTransformerBlock", rows[2][3], True),
        ("decode", None, 1, True),
        ("other", None, 1, True),
    ]
    assert {row[0] for row in rows} == {"StableDiffusionPipeline"}
    levels = "stage: denoise", "ProfilerStep*", "block: BasicTransformerBlock"
    stack = ";".join(("pipeline: StableDiffusionPipeline", *levels))
    assert stack in flames(connection)


def flames(connection: Any) -> set[str]:
    """Return the stacks of the flame graph, outermost first: `a;b;c`."""
    [(run_id,)] = connection.sql("SELECT run_id FROM runs").fetchall()
    calls = {
        call: (caller, name)
        for call, caller, name in connection.execute(
            "SELECT DISTINCT id, caller_id, name FROM call_stacks($1)", [run_id]
        ).fetchall()
    }

    def stack(call: str | None) -> str:
        if call is None:
            return ""
        caller, name = calls[call]
        return f"{stack(caller)};{name}".lstrip(";")

    return {stack(call) for call in calls}


def assert_stages(connection: Any, captured: Captured) -> None:
    """Assert that stages equal a computation in Python, and that they and their parts add up."""
    host_ns = {
        (stage, step, block): ns
        for stage, step, block, ns in connection.sql(
            "SELECT stage, step, block_class, host_ns FROM stages"
        ).fetchall()
    }
    marks = [event for event in captured.events if event.get("cat") == "user_annotation"]
    since = min(event["ts"] for event in marks)  # small numbers are exact as floats
    [expected] = stages_in_python.host_times(
        [{**event, "ts": event["ts"] - since} for event in marks]
    ).values()
    assert host_ns == expected
    [(call_ns,)] = connection.sql("SELECT dur_ns FROM ops WHERE name LIKE 'pipeline: %'").fetchall()
    assert sum(host_ns.values()) == call_ns
    assert connection.sql("SELECT sum(ns)::BIGINT FROM stage_parts").fetchall() == [(call_ns,)]
    work = connection.sql(
        "SELECT stage.name[8:] AS stage, sum(flops), sum(bytes) FROM op_work "
        "JOIN ops AS op ON op_id = op.event_id JOIN ops AS stage "
        "ON stage.name LIKE 'stage: %' AND op.start_ns BETWEEN stage.start_ns "
        "AND stage.start_ns + stage.dur_ns GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    assert {stage for stage, *_ in work} == {"encode", "denoise", "decode"}
    found = connection.sql(
        "SELECT stage, flops, bytes FROM stage_efficiency "
        "WHERE level = 'stage' AND stage <> 'other' ORDER BY ALL"
    ).fetchall()
    assert found == work


def test_a_compiled_run_has_regions_and_kernels_of_inductor(
    side_by_side: tuple[Captured, Captured], store
):
    for captured in side_by_side:
        store.add(captured.directory)

    connection = ingest.connect(store.path)
    rows = connection.sql("""
        SELECT runs.mode, count(*) FILTER (WHERE ops.name LIKE 'Torch-Compiled%') > 0,
            count(*) FILTER (WHERE ops.name LIKE '%cpp_fused%') > 0, count(DISTINCT ops.step)
        FROM ops JOIN runs USING (run_id) GROUP BY runs.mode ORDER BY runs.mode
    """)
    assert rows.fetchall() == [("compiled", True, True, 2), ("eager", False, False, 2)]
    [(calls, linked)] = connection.sql(
        "SELECT count(*), count(ordinal) FROM ops AS part JOIN ops AS graph "
        "ON part.run_id = graph.run_id AND part.parent_op_id = graph.event_id "
        "AND graph.name LIKE '## Call CompiledFxGraph%' "
        "LEFT JOIN compiled_calls AS call "
        "ON part.run_id = call.run_id AND part.event_id = call.event_id"
    ).fetchall()
    assert 0 < calls == linked


def test_a_recompiled_run_shows_its_regions(recompiled: Captured, store):
    connection = added(recompiled.directory, store)

    regions = connection.sql(
        "SELECT DISTINCT name FROM ops WHERE name LIKE 'Torch-Compiled Region%'"
    ).fetchall()
    again = recompiled.run["compilation"]["compilations"][1]
    assert regions == [(f"Torch-Compiled Region: {again['compile_id']}",)]
    assert connection.sql("SELECT mode FROM runs").fetchall() == [("compiled",)]
    assert connection.sql("SELECT count(*) FROM steps").fetchall() == [(2,)]


def test_a_failed_body_keeps_its_steps_and_error(store, tmp_path):
    with pytest.raises(ZeroDivisionError):  # noqa: PT012, SIM117
        with Profiler(
            output_dir=tmp_path / "run", warmup=1, active=9, with_stack=False
        ) as profiler:
            for _ in range(3):
                work()
                profiler.step()
            1 / 0  # noqa: B018

    connection = added(tmp_path / "run", store)
    steps = connection.sql("SELECT step FROM steps ORDER BY step").fetchall()
    assert steps == [(1,), (2,), (3,)]  # the last one had begun
    [(error,)] = connection.sql("SELECT run_json ->> 'error' FROM runs").fetchall()
    assert error == "ZeroDivisionError: division by zero"


def test_memory_without_a_device_leaves_nothing_to_ingest(store, tmp_path):
    import torch

    if torch.accelerator.is_available():
        pytest.skip("there is an accelerator here")
    with pytest.warns(UserWarning, match="CUDA"), Profiler(activities=["MEM"], output_dir=tmp_path):
        work()

    with pytest.raises(ProfileError, match="no profile in this directory"):
        store.add(tmp_path)


def test_two_ranks_are_one_run(store, tmp_path, monkeypatch):
    for rank in (0, 1):
        monkeypatch.setenv("RANK", str(rank))
        monkeypatch.setenv("WORLD_SIZE", "2")
        with Profiler(output_dir=tmp_path / "run", name="two", with_stack=False):
            work()

    connection = added(tmp_path / "run", store)
    assert connection.sql("SELECT world_size FROM runs").fetchall() == [(2,)]
    ranks = connection.sql("SELECT DISTINCT rank FROM ops ORDER BY rank").fetchall()
    assert ranks == [(0,), (1,)]


def test_a_recompilation_has_its_reason_and_times(recompiled: Captured, store):
    connection = added(recompiled.directory, store)

    expected = recompiled.run["compilation"]["compilations"]
    rows = connection.sql(
        "SELECT compile_id, is_recompile, reason, start_ns, dur_ns / 1e9, is_in_measured_step, "
        "evidence FROM compilations ORDER BY compile_id"
    ).fetchall()
    assert [(*row[:3], row[5]) for row in rows] == [
        (c["compile_id"], c["recompile"], c["reason"], c["in_measured_run"]) for c in expected
    ]
    for row, compilation in zip(rows, expected, strict=True):
        assert row[3] == pytest.approx(compilation["started_at_ns"], abs=10**8)
        assert row[4] == pytest.approx(compilation["seconds"], rel=0.1, abs=0.1)
        assert row[6] == "log"
    [(compilations, recompiles)] = connection.sql(
        "SELECT compilations, recompiles FROM run_overview"
    ).fetchall()
    assert (compilations, recompiles) == (1, 1)
