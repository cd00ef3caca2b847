"""Measures what one device reaches: matrix products, a copy, and launches."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

from capture.calibration.products import DTYPES, product
from capture.device import Stopwatch, synchronize
from capture.errors import first_line

if TYPE_CHECKING:
    import torch

SLOW_NS = 1_000_000_000  # a slower product or copy is timed once
MOST_REPEATS = 1_000
SMALLEST_WIDTH = 32  # of a product, in rows. `torch._int_mm` needs more than 16 on CUDA
BATCH = 100  # launches that are timed together. CUDA's queue holds about 1,000
DIGITS = 4  # significant digits of a rate; repetitions differ in the third


@dataclass(frozen=True)
class Effort:
    """How much work a calibration does on a device.

    widths      widths of the square matrices, ascending. The fastest width counts. A width that
                would be slow is left out
    time_ns     time for the repetitions of a product or copy, ns
    copy_bytes  size of the copied tensor, bytes
    batches     timed batches of launches
    """

    widths: tuple[int, ...]
    time_ns: int
    copy_bytes: int
    batches: int


# In total 10 to 40 s for a device. The copies are larger than the caches of known devices, also
# when many cores share the work. Two tensors of this size need to fit into the memory.
EFFORTS = {
    "cpu": Effort((512, 1024, 2048, 4096), 500_000_000, 512 << 20, 100),
    "cuda": Effort((4096, 8192, 16384), 300_000_000, 1 << 30, 100),
}


def measured(device: torch.device, effort: Effort) -> dict[str, Any]:
    """Return the measurements of `device`, as `calibration.json` records them.

    flops_per_s  operations per second of a matrix product, by data type. A product of two matrices
                 of n rows and columns has 2n³ operations
    bytes_per_s  bytes read and written per second by a copy within the device's memory, or None
    launch_ns    time of the host for one launch of a small operator, ns, or None
    absent       why a data type, or a measurement that is None, is absent
    """
    import torch

    flops_per_s: dict[str, float] = {}
    absent: dict[str, str] = {}

    def of(key: str, measure: Callable[[], float]) -> float | None:
        try:
            return measure()
        except Exception as error:  # torch raises many kinds for what a device does not support
            absent[key] = first_line(error)
            return None

    with torch.cuda.device(device) if device.type == "cuda" else nullcontext():
        for dtype in DTYPES:
            if rate := of(dtype, partial(_flops_per_s, dtype, device, effort)):
                flops_per_s[dtype] = _rounded(rate)
        copied = of("bytes_per_s", lambda: _rounded(_bytes_per_s(device, effort)))
        launch_ns = of("launch_ns", lambda: _launch_ns(device, effort))
    return {
        "flops_per_s": flops_per_s,
        "bytes_per_s": copied,
        "launch_ns": launch_ns,
        "absent": absent,
    }


def _flops_per_s(dtype: str, device: torch.device, effort: Effort) -> float:
    """Return the rate of the fastest width. Raises an error if the device cannot compute it."""
    # The first product loads libraries. It also fails if the device does not support it.
    with product(dtype, SMALLEST_WIDTH, device) as multiply:
        multiply()
        synchronize(device)
    best = 0.0
    for position, width in enumerate(effort.widths):
        try:
            with product(dtype, width, device) as multiply:
                shortest_ns = _shortest_ns(multiply, device, effort)
        except Exception:  # of memory, or of a library that has no kernel for the size
            if not best:
                raise
            break
        best = max(best, 2 * width**3 / shortest_ns * 1e9)
        following = effort.widths[position + 1 :]
        if following and shortest_ns * (following[0] / width) ** 3 > SLOW_NS:
            break
    return best


def _bytes_per_s(device: torch.device, effort: Effort) -> float:
    import torch

    # Ones, because the pages of untouched zeros are all the same page, which stays in the cache.
    source = torch.ones(effort.copy_bytes, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    shortest_ns = _shortest_ns(lambda: target.copy_(source), device, effort)
    return 2 * effort.copy_bytes / shortest_ns * 1e9


def _shortest_ns(work: Callable[[], object], device: torch.device, effort: Effort) -> int:
    """Return the shortest time of several repetitions, in ns on the device.

    The shortest, because it is a bound that recorded work is compared with: other processes and a
    clock that has not risen yet only add time. Work that is slow is not repeated.
    """
    watch = Stopwatch(device)
    with watch.timed():
        work()
    first_ns = max(1, watch.times_ns()[0])
    if first_ns <= SLOW_NS:
        for _ in range(min(max(2, effort.time_ns // first_ns), MOST_REPEATS)):
            with watch.timed():
                work()
    return max(1, min(watch.times_ns()))


def _launch_ns(device: torch.device, effort: Effort) -> int:
    """Return the median time of the host for one launch, in ns.

    The median, because programs pay the typical cost of a launch, not the lowest one.
    """
    import torch

    number = torch.ones(1, device=device)
    times_ns = []
    for _ in range(effort.batches):
        synchronize(device)  # a launch into a full queue would wait
        started_ns = time.perf_counter_ns()
        for _ in range(BATCH):
            number.neg_()
        times_ns.append((time.perf_counter_ns() - started_ns) / BATCH)
    synchronize(device)
    return max(1, round(median(times_ns)))


def _rounded(rate: float) -> float:
    return float(f"{rate:.{DIGITS}g}")
