"""A summary of a recorded program in a few lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from capture.output.run_directory import FLIGHT_RECORDER
from capture.units import counted, duration, size


def has_profile(directory: Path) -> bool:
    """Return whether the directory contains a trace or a snapshot."""
    return any(path.name.endswith((".trace.json.gz", ".pickle")) for path in directory.glob("*"))


def has_dumps(directory: Path) -> bool:
    """Return whether the directory contains dumps of torch's flight recorder."""
    return any(directory.glob(f"*-{FLIGHT_RECORDER}-*"))


def summary(directory: Path) -> Iterator[str]:
    """Yield the lines about the run in `directory`, from its `run.json` and its files."""
    run = json.loads((directory / "run.json").read_text(encoding="utf-8"))
    ranks = _ranks(directory)
    yield str(directory)
    if error := run.get("error"):
        yield f"ended by    {error}"
    of_rank = f" of rank {run.get('rank', 0)}" if len(ranks) > 1 else ""
    if times_ns := run.get("profiled_step_times_ns"):
        spread = _spread(times_ns, run)
        source = f" ({run['steps_from']})" if "steps_from" in run else ""
        yield f"steps       {len(times_ns)}{of_rank}{source}{spread}"
    else:
        yield f"steps       none found; recorded {duration(run['profiled_wall_time_ns'])}{of_rank}"
    if did := run.get("compilation"):
        recompiled = [c["reason"] for c in did["compilations"] if c["recompile"] and c["reason"]]
        first = f": {recompiled[0].splitlines()[0][:100]}" if recompiled else ""
        compiled = counted(len(did["compilations"]), "compilation")
        yield f"compiled    {compiled}, {counted(did['recompiles'], 'recompilation')}{first}"
    for device in run.get("device_time", []):
        busy = device["busy_ns"] / device["recorded_ns"]
        whole = duration(device["recorded_ns"])
        yield f"device      {device['device']}: busy {busy:.0%} of {whole}"
    for peak in run.get("memory", []):
        for key, what in (("peak_allocated_bytes", "allocated"), ("peak_rss_bytes", "resident")):
            if peak.get(key):
                yield f"memory      {peak['device']}: peak {size(peak[key])} {what}"
    if len(ranks) > 1:
        yield f"ranks       {', '.join(ranks)}"
    files = [file for file in directory.iterdir() if file.is_file()]
    traces = sum(file.name.endswith(".trace.json.gz") for file in files)
    total = size(sum(file.stat().st_size for file in files))
    yield f"files       {len(files)}, including {counted(traces, 'trace')}; {total}"
    for what, why in run.get("missing", {}).items():
        yield f"missing     {what}: {why}"


def _ranks(directory: Path) -> list[str]:
    """Return the ranks in the directory, with the process name and number of steps of each."""
    found = [json.loads(file.read_text("utf-8")) for file in directory.glob("rank*.json")]
    return [
        f"{run.get('rank', 0)} ({run.get('process', 'the program')}, "
        f"{counted(len(run.get('profiled_step_times_ns', [])), 'step')})"
        for run in sorted(found, key=lambda run: int(run.get("rank", 0)))
    ]


def _spread(times_ns: list[int], run: dict[str, Any]) -> str:
    """Return the median and spread of the steps after the warm-up.

    The first step and all steps until the last compilation are warm-up.
    """
    warmup = max(1, run.get("warmup_steps", 0))
    measured_ns = times_ns[warmup:]
    if not measured_ns:
        return f", {duration(sum(times_ns))}: all warm-up"
    middle = f", {warmup} warm-up; median of the others {duration(median(measured_ns))}"
    if len(measured_ns) < 4:
        return middle
    low, _, high = quantiles(measured_ns, n=4)
    return f"{middle}, middle half {duration(low)} to {duration(high)}"
