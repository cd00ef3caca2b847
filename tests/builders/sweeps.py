"""The run directories of a sweep, in the form of `capture sweep`."""

import json
from pathlib import Path
from typing import Any

import ingest
from tests.builders.events import Event

TAG = "flux-tiny-1"
MS = 1_000_000
# The times of each variant in ms: the timed calls in two processes, and the warm-up calls.
TIMES: dict[str, tuple[list[list[int]], list[list[int]]]] = {
    "eager 64": ([[100, 104, 102], [98, 98, 98]], [[500], [300]]),
    "default 64": ([[50, 51, 52], [49, 47, 48]], [[20_051], [2_048]]),
    "wrong 64": ([[10, 10, 10], [10, 10, 10]], [[5_010], [1_010]]),
    "slow 64": ([[200, 200, 200], [201, 201, 201]], [[9_200], [3_201]]),
}
DISTANCES: dict[str, dict[str, Any]] = {
    "eager 64": {"max_abs": 0.0, "mean_abs": 0.0},
    "default 64": {"max_abs": 2e-6, "mean_abs": 3e-7, "psnr_db": 121.5},
    "wrong 64": {"max_abs": 0.9, "mean_abs": 0.25, "psnr_db": 9.5},
    "slow 64": {"missing": "shape (1, 8) instead of (1, 4)"},
}
FAILING = "failing 64"
FAILURE = "RuntimeError: this variant fails"
REASON = "tensor 'x' size mismatch at index 0. expected 2, actual 1"
BREAK = "Unsupported: print"
GAVE_UP = "Observed exception"


def described(variant: str) -> dict[str, Any]:
    """Return the value of `sweep` in the run.json of a variant that did not fail."""
    calls, warmup = TIMES[variant]
    is_compiled = not variant.startswith("eager")
    is_slow = variant.startswith("slow")
    return {
        **of(variant),
        "images": 2,
        "call_times_ns": [[ms * MS for ms in process] for process in calls],
        "warmup_times_ns": [[ms * MS for ms in process] for process in warmup],
        "peak_bytes": 1 << 20,
        "peak_of": "device",
        "compilations": int(is_compiled),
        "recompiles": int(is_slow),
        "recompile_reasons": [REASON] if is_slow else [],
        "compile_failures": [GAVE_UP] if is_slow else [],
        "graph_breaks": int(is_slow),
        "graph_break_reasons": [BREAK] if is_slow else [],
        "distance": DISTANCES[variant],
    }


def of(variant: str) -> dict[str, Any]:
    """Return the part of `sweep` that all variants have."""
    return {
        "tag": TAG,
        "ordinal": [*TIMES, FAILING].index(variant) + 1,
        "variant": variant,
        "tried": variant.split()[0],
        "settings": {"size": "64"},
        "base": "eager 64",
    }


def write_runs(directory: Path) -> list[Path]:
    """Write a run directory per variant. Each has a trace, except for the failed variant."""
    runs = []
    for variant in TIMES:
        run = write_run(directory, variant, described(variant))
        step: Event = {"name": "ProfilerStep#0", "cat": "user_annotation", "ts": 0, "dur": 90}
        work: Event = {"name": "aten::mm", "cat": "cpu_op", "ts": 10, "dur": 50}
        events = [{"ph": "X", "pid": 1, "tid": 1, **each} for each in (step, work)]
        (run / "trace.json").write_text(json.dumps({"traceEvents": events}))
        runs.append(run)
    failed = of(FAILING) | {"error": FAILURE}
    return [*runs, write_run(directory, FAILING, failed, error=FAILURE)]


def sweep_store(directory: Path) -> Path:
    """Return a store with these runs."""
    store = ingest.Store(directory / "store")
    for run in write_runs(directory / "runs"):
        store.add(run)
    return store.path


def write_run(directory: Path, variant: str, sweep: Any, **more: Any) -> Path:
    """Write a run directory that contains only run.json. Return it."""
    run = directory / variant.replace(" ", "-")
    run.mkdir(parents=True)
    described = {"name": run.name, "tags": {"sweep": TAG}, "sweep": sweep, **more}
    (run / "run.json").write_text(json.dumps(described))
    return run
