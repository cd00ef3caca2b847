"""Compilations by torch.compile: their times, reasons to recompile, graph breaks, and log."""

from __future__ import annotations

import gzip
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from capture.output.run_directory import atomic_write

MAX_COMPILATIONS = 10_000
LOG_DIRECTORY = "TORCH_TRACE"
# This directory also contains Triton's kernels and AOTAutograd's graphs.
CACHE_DIRECTORY = "TORCHINDUCTOR_CACHE_DIR"
TOO_LATE = (
    f"{LOG_DIRECTORY} was not set when torch was imported, so torch kept no compile log; "
    "use `capture run`, which sets it"
)


def remember_all() -> None:
    """Raise torch's limit of 64 remembered compilations."""
    if utils := _dynamo():
        utils.set_compilation_metrics_limit(MAX_COMPILATIONS)


def has_compiled() -> bool:
    """Return whether anything has been compiled in this process."""
    utils = _dynamo()
    return bool(utils and utils.get_compilation_metrics())


def summary(measured_ns: Sequence[tuple[int, int]]) -> dict[str, Any] | None:
    """Return all compilations of this process so far, or None if there are none.

    `measured_ns` has the begin and end of each measured step, or of the run, in Unix time. Phases
    contain each other, so their seconds do not add up. `seconds` counts each compilation once, from
    start to end.
    """
    utils = _dynamo()
    if not utils or not has_compiled():
        return None
    compilations = [
        _compilation(metrics, measured_ns)
        for metrics in utils.get_compilation_metrics()
        if metrics.compile_id and not metrics.is_runtime and metrics.is_forward is not False
    ]
    recompiles = [compilation for compilation in compilations if compilation["recompile"]]
    counters: Mapping[str, Mapping[str, int]] = utils.counters
    headers, seconds = utils.compile_times(repr="csv", aggregate=True)
    return {
        "graphs": counters["stats"]["unique_graphs"],
        "graph_breaks": [
            {"reason": reason, "count": count} for reason, count in counters["graph_break"].items()
        ],
        "compilations": compilations,
        "recompiles": len(recompiles),
        "compiled_in_measured_run": sum(c["in_measured_run"] for c in compilations),
        "seconds": round(sum(c["seconds"] or 0 for c in compilations), 6),
        "phases_seconds": {
            phase: float(spent) for phase, spent in zip(headers, seconds, strict=True)
        },
        "graphs_from_cache": counters["inductor"]["fxgraph_cache_hit"],
    }


@contextmanager
def kept_log(fresh_cache: bool = False) -> Iterator[Path]:
    """Keep torch's compile log while the body runs. Yield its temporary directory.

    This has no effect if torch has been imported already. The log includes the origin of each
    kernel. Inductor records origins only for graphs that it compiles, not for cached graphs, so
    `fresh_cache` sets an empty cache. Environment variables that the user has set are kept.
    """
    directory, process = tempfile.mkdtemp(), os.getpid()
    wanted = {LOG_DIRECTORY: f"{directory}/log", "INDUCTOR_PROVENANCE": "1"}
    if fresh_cache:
        wanted[CACHE_DIRECTORY] = f"{directory}/cache"
    ours = {name: value for name, value in wanted.items() if name not in os.environ}
    os.environ.update(ours)
    try:
        yield Path(directory)
    finally:
        if os.getpid() == process:  # a fork must not remove them
            for name in ours:
                os.environ.pop(name, None)
            shutil.rmtree(directory, ignore_errors=True)  # another process may still write to it


def name_cpu_kernels() -> None:
    """Show Inductor's CPU kernels in traces, with their names."""
    import torch._inductor.config

    torch._inductor.config.cpp.enable_kernel_profile = True


def save_log(path: Path) -> bool:
    """Write torch's compile log so far to `path` (.gz). Return whether there is a log."""
    internal = sys.modules.get("torch._logging._internal")
    handler: Any = internal and internal.LOG_TRACE_HANDLER
    if not (handler and handler.stream):
        return False
    handler.flush()
    written = getattr(handler, "_stream_path", None) or handler.stream.name  # before torch 2.12
    with (
        atomic_write(path) as temporary,
        Path(written).open("rb") as log,
        gzip.open(temporary, "wb", compresslevel=6) as packed,
    ):
        shutil.copyfileobj(log, packed)
    return True


def _compilation(metrics: Any, measured_ns: Sequence[tuple[int, int]]) -> dict[str, Any]:
    began_ns = (metrics.start_time_us or 0) * 1000
    attempt = str(metrics.compile_id).partition("/")[2]
    return {
        "compile_id": metrics.compile_id,
        "function": metrics.co_name,
        "file": metrics.co_filename,
        "line": metrics.co_firstlineno,
        "recompile": not attempt.startswith("0"),
        "reason": metrics.recompile_reason,
        "started_at_ns": began_ns,
        "seconds": None if metrics.duration_us is None else metrics.duration_us / 1e6,
        "graph_breaks": metrics.num_graph_breaks,
        "failed": metrics.fail_reason,
        "in_measured_run": any(start <= began_ns <= end for start, end in measured_ns),
    }


def _dynamo() -> Any:
    """Return torch._dynamo.utils if it has been imported."""
    return sys.modules.get("torch._dynamo.utils")
