"""What torch.compile did: its compilations, why it compiled again, and where graphs broke."""

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

from capture.output.run_directory import appearing

MOST_COMPILATIONS = 10_000
LOG_DIRECTORY = "TORCH_TRACE"
CACHE_DIRECTORY = "TORCHINDUCTOR_CACHE_DIR"  # also of Triton's kernels, and AOTAutograd's graphs
TOO_LATE = (
    f"{LOG_DIRECTORY} was not set when torch was imported, so torch kept no compile log; "
    "`capture run` sets it"
)


def remember_all() -> None:
    """Let torch remember more than its last 64 compilations."""
    if utils := _dynamo():
        utils.set_compilation_metrics_limit(MOST_COMPILATIONS)


def happened() -> bool:
    """Whether anything has been compiled in this process."""
    utils = _dynamo()
    return bool(utils and utils.get_compilation_metrics())


def summary(measured_ns: Sequence[tuple[int, int]]) -> dict[str, Any] | None:
    """All compilations of this process so far; None where there were none.

    `measured_ns`: when each measured step, or the run, began and ended, Unix time. Phases contain
    each other, so their seconds do not add up; `seconds` counts each compilation once, from start
    to end.
    """
    utils = _dynamo()
    if not utils or not happened():
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
    """In the body, torch keeps its compile log, if it has not been imported before.

    Gives the body the directory of the log, which is temporary.

    With the origin of each kernel: Inductor tells it of graphs that it compiles itself, and not of
    those in its cache, hence `fresh_cache`. What the user has set stays as it is.
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
        if os.getpid() == process:  # not a fork of it
            for name in ours:
                os.environ.pop(name, None)
            shutil.rmtree(directory, ignore_errors=True)  # it may be in use


def name_cpu_kernels() -> None:
    """Have Inductor's kernels on the CPU appear in traces, under their names."""
    import torch._inductor.config

    torch._inductor.config.cpp.enable_kernel_profile = True


def save_log(path: Path) -> bool:
    """Write torch's compile log so far to `path` (.gz); whether there is one."""
    internal = sys.modules.get("torch._logging._internal")
    handler: Any = internal and internal.LOG_TRACE_HANDLER
    if not (handler and handler.stream):
        return False
    handler.flush()
    written = getattr(handler, "_stream_path", None) or handler.stream.name  # before torch 2.12
    with (
        appearing(path) as temporary,
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
    """torch._dynamo.utils where something has loaded it."""
    return sys.modules.get("torch._dynamo.utils")
