"""What a recording of a program holds, in a few lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles
from typing import Any


def summary(run: dict[str, Any], directory: Path) -> Iterator[str]:
    """The lines for a run in `directory`, from its `run.json`."""
    yield str(directory)
    if times_ns := run.get("profiled_step_times_ns"):
        yield f"steps       {len(times_ns)} ({run.get('steps_from')}), {_spread(times_ns)}"
    else:
        yield f"steps       none found; recorded {_time(run['profiled_wall_time_ns'])}"
    if did := run.get("compilation"):
        recompiled = [c["reason"] for c in did["compilations"] if c["recompile"] and c["reason"]]
        first = f": {recompiled[0].splitlines()[0][:100]}" if recompiled else ""
        count, again = len(did["compilations"]), did["recompiles"]
        yield f"compiled    {count} compilations, {again} recompilations{first}"
    for peak in run.get("memory", []):
        for key, what in (("peak_allocated_bytes", "allocated"), ("peak_rss_bytes", "resident")):
            if size := peak.get(key):
                yield f"memory      {peak['device']}: {_size(size)} {what} at most"
    files = [file for file in directory.iterdir() if file.is_file()]
    yield f"files       {len(files)}, {_size(sum(file.stat().st_size for file in files))}"
    for what, why in run.get("missing", {}).items():
        yield f"missing     {what}: {why}"


def _spread(times_ns: list[int]) -> str:
    middle = f"median {_time(median(times_ns))}"
    if len(times_ns) < 4:
        return middle
    low, _, high = quantiles(times_ns, n=4)
    return f"{middle}, middle half {_time(low)} to {_time(high)}"


def _time(ns: float) -> str:
    return f"{ns / 1e9:.3g} s" if ns >= 1e9 else f"{ns / 1e6:.3g} ms"


def _size(size: float) -> str:
    if size >= 1 << 30:
        return f"{size / 2**30:,.1f} GiB"
    return f"{size / 2**20:,.1f} MiB" if size >= 1 << 20 else f"{size / 2**10:,.0f} KiB"
