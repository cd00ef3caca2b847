"""The facts of a kernel: its launch shape, how it fills the device, and how efficient it is."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.kernels.shape import of_device, sizes
from dashboard.widgets.view import View
from ingest.server import Value, reports

HELP = {
    "Grid": "Blocks in x, y and z. Kernels of Tensile (AMD) count work-items.",
    "Block": "Threads of a block in x, y and z.",
    "Registers": "Registers for each thread.",
    "Shared memory": "Shared memory for each block.",
    "Blocks": "Blocks of a launch.",
    "Resident blocks": "Blocks that fit on a multiprocessor at a time.",
    "Waves": "Blocks by the blocks that fit on the whole device. With less than 1, a part of the "
    "device is empty.",
    "Occupancy": "Active warps of a multiprocessor, as the profiler estimates them.",
    "Could save": "Its share of the time that reaching the roofline would save.",
}


def show(view: View, row: pd.Series, where: Mapping[str, Value]) -> None:
    """Show the facts that are known, and where the peaks come from."""
    grid, block = sizes(row["grid"]), sizes(row["block"])
    threads = None if block is None else _product(row["block"])
    with_threads = f"{block} ({threads:,} threads)" if block and "×" in block else block
    shown = {
        "Grid": grid,
        "Block": with_threads and with_threads.removesuffix(" (1 threads)"),
        "Registers": _written(row["registers"], formatting.count),
        "Shared memory": _written(row["shared_bytes"], formatting.size),
        "Blocks": _written(row["blocks"], formatting.count),
        "Resident blocks": _written(row["resident_blocks"], formatting.count),
        "Waves": _written(row["waves"], formatting.mean_count),
        "Occupancy": _written(row["occupancy_percent"], formatting.percent),
        "Could save": _written(row["saved_ns"], formatting.duration),
    }
    with st.container(horizontal=True):
        for label, text in shown.items():
            if text is not None:
                st.metric(label, text, help=HELP[label])
    st.markdown("  \n".join(_sentences(view, row, where)))


def _product(values: Any) -> int:
    product = 1
    for each in values:
        product *= int(each)
    return product


def _written(value: Any, write: Any) -> str | None:
    return None if formatting.missing(value) else write(value)


def _sentences(view: View, row: pd.Series, where: Mapping[str, Value]) -> list[str]:
    """Return sentences about the kernel's cores and its efficiency."""
    uses = "uses" if row["is_on_matrix_cores"] else "does not show that it uses"
    name = f"By its name, it {uses} tensor cores or matrix cores."
    if row["class"] == "communication":
        return ["It communicates with other ranks, so no work is known."]
    if formatting.missing(row["level"]):
        return [name, "Its work is unknown: no formula fits its operator, or shapes are missing."]
    of = "It" if row["level"] == "kernel" else "The operator that launches it with other kernels"
    rates = [
        _rate(row["tflop_per_s"], formatting.operation_rate, row["peak_percent"], "peak"),
        _rate(row["tb_per_s"], formatting.bandwidth, row["bandwidth_percent"], "bandwidth"),
    ]
    reached = " and ".join(filter(None, rates))
    bound = (
        ""
        if formatting.missing(row["bound"])
        else f" Bound by {reports.efficiency.BOUNDS[row['bound']]}."
    )
    return [name, *([f"{of} reaches {reached}.{bound}"] if reached else []), *_peaks(view, where)]


def _rate(value: Any, write: Any, percent: Any, of: str) -> str:
    if formatting.missing(value):
        return ""
    share = "" if formatting.missing(percent) else f" ({formatting.percent(percent)} of the {of})"
    return f"**{write(value)}**{share}"


def _peaks(view: View, where: Mapping[str, Value]) -> list[str]:
    """Return the peaks that its shares are of, and where they come from."""
    device = {"run_id": view.run, **of_device(view)}
    (limits,) = data.rows(reports.efficiency.limits(device)).itertuples()
    types = set(data.rows(reports.kernels.precisions(where))["precision"])
    found = [
        (
            f"{formatting.operation_rate(peak.tflop_per_s)} in {peak.precision}",
            peak.tflop_per_s_from,
        )
        for peak in data.rows(reports.kernels.peaks(device)).itertuples()
        if peak.precision in types
    ]
    if not formatting.missing(limits.tb_per_s):
        found.append((formatting.bandwidth(limits.tb_per_s), limits.tb_per_s_from))
    if not found:
        return ["The peaks of the device are unknown."]
    origins = dict.fromkeys(origin for _, origin in found)
    launch_ns = limits.measured_launch_ns
    launch = (
        []
        if formatting.missing(launch_ns)
        else [
            f"By `capture calibrate`, launching an operator takes {formatting.duration(launch_ns)}."
        ]
    )
    parts = [
        ", ".join(peak for peak, of in found if of == origin)
        + " by "
        + reports.efficiency.SOURCES[origin].format(model=formatting.literal(str(limits.model)))
        for origin in origins
    ]
    return [f"Peaks: {'; '.join(parts)}.", *launch]
