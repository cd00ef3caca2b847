"""The settings of two runs: configuration, versions, environment, recording and tags."""

from typing import Any

import ingest
from tests.builders import diff_traces
from tests.builders.relations import Relations, Run, built


def run(run_json: dict[str, Any] | None = None, **tags: str | None) -> Run:
    """Return a run of the eager trace, with this `run.json` if it is given, and these tags."""
    files: dict[str, Any] = {"trace.json": {"traceEvents": diff_traces.eager()}}
    if run_json is not None:
        files["run.json"] = run_json
    return Run(files, ingest.AddOptions(tags=dict(tags)))


def differences(relations: Relations, base: str, other: str, status: str) -> set[tuple[Any, ...]]:
    """Return the topic, the setting, and both values of each row with a status."""
    rows = relations.execute(
        "SELECT topic, setting, base, other FROM setting_diff($1, $2) WHERE status = $3",
        [base, other, status],
    ).fetchall()
    assert len(rows) == len({row[:2] for row in rows})
    return set(rows)


def test_differences_of_run_json_versions_and_tags() -> None:
    run_json = {
        "model": "flux",
        "mode": "eager",
        "batch": 1,
        "seed": 3,
        "width": 64,
        "height": 32,
        "framework_version": "2.12.0",
        "arguments": {"command": ["train.py", "--lr", "1"]},
        "started_at": "2026-11-20T10:00:00+00:00",
        "wall_times_ns": [5, 6],
    }
    changed = {
        "mode": "compiled",
        "compile": {"mode": "max-autotune", "dynamic": False},
        "seed": 4,
        "height": 64,
        "framework_version": "2.13.0",
        "arguments": {"command": ["train.py", "--lr", "2"]},
        "started_at": "2026-11-21T10:00:00+00:00",
        "wall_times_ns": [7, 8],
        "memory": [{"device": "host", "peak_rss_bytes": 9}],
        "calibration": {"schema": 1, "devices": [{"flops_per_s": {"float32": 1e12}}]},
    }
    base = run(run_json, branch="main", nightly="yes")
    other = run(run_json | changed, branch="fast", nightly="yes", ticket="42")
    relations = built({"base": base, "other": other})
    assert differences(relations, "base", "other", "different") == {
        ("configuration", "mode", "eager", "compiled"),
        ("configuration", "compile.mode", None, "max-autotune"),
        ("configuration", "compile.dynamic", None, "false"),
        ("configuration", "seed", "3", "4"),
        ("configuration", "image size", "64 × 32", "64 × 64"),
        (
            "environment",
            "arguments.command",
            '["train.py","--lr","1"]',
            '["train.py","--lr","2"]',
        ),
        ("version", "framework_version", "2.12.0", "2.13.0"),
        ("tag", "branch", "main", "fast"),
        ("tag", "ticket", None, "42"),
    }
    same = differences(relations, "base", "other", "same")
    assert {
        ("configuration", "model", "flux", "flux"),
        ("configuration", "batch", "1", "1"),
        ("tag", "nightly", "yes", "yes"),
        ("environment", "ranks", "1", "1"),
    } <= same
    assert not differences(relations, "base", "other", "unknown")


def test_settings_of_run_json_are_unknown_for_a_run_without_it() -> None:
    other = run({"seed": 4, "batch": 2}, branch="main")
    relations = built({"base": run(), "other": other})
    assert differences(relations, "base", "other", "different") == {("tag", "branch", None, "main")}
    assert differences(relations, "base", "other", "unknown") == {
        ("configuration", "seed", None, "4"),
        ("configuration", "batch", None, "2"),
    }
    assert not differences(relations, "base", "base", "different")
