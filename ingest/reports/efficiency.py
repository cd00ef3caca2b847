"""What `ingest top --efficiency` and page Roofline say: how close work comes to the limits."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import duckdb

from ingest.reports.query import Query, Scalar, Value, select
from ingest.reports.section import Section
from ingest.reports.top import WHOLE, Steps
from ingest.sql import literal

LEVELS = {
    "op": "operators with equal shapes",
    "kernel": "longest kernel of each operator",
    "module": "innermost nn.Module around each operator",
    "kind": "kind of work: products, attention, norms, generated kernels and others",
}
COLUMNS = (
    "name, input_dims, dtype, work_ns, saved_ns, peak_percent, bandwidth_percent, bound, calls, "
    "tflop_per_s, tb_per_s, percent, saved_80_ns, intensity, flops, bytes, kind, precision, warning"
)
MODULE_COLUMNS = (
    "saved_ns, mfu_percent, peak_percent, bandwidth_percent, tflop_per_s, tb_per_s, known_percent"
)
# Where peaks come from, by `device_peaks.tflop_per_s_from`.
SOURCES = {
    "tag": "the run's tags",
    "datasheet": "the datasheet of {model}",
    "calibration": "`capture calibrate`",
}
# Why the utilisation is unknown, by `run_efficiency.unknown_reason`.
UNKNOWN = {
    "no_work": "no operator has known work",
    "no_products": "there are no products, convolutions or attention with known work",
    "no_peak": "the peak of a type in which most products compute is unknown",
}
# Why a device is of no model, by `device_limits.model_reason`.
NO_MODEL = {
    "no_properties": "the trace does not describe the device",
    "no_model": "table device_models has no such device",
    "several_models": "several models fit",
    "host": "a host has no datasheet",
}
# What users can do if the limits of a device are unknown.
HOW_TO_GIVE_PEAKS = (
    "Give them with `ingest edit RUN --tag peak_bfloat16=989 --tag peak_bandwidth=3.35` (10¹² per "
    "second), or record runs beside a calibration (`capture calibrate`)."
)
# What users can do if no work is known.
HOW_TO_RECORD_WORK = (
    "Work follows from the shapes of inputs: record the run with `record_shapes=True`, as "
    "`capture` does. If an earlier version added the run, `ingest upgrade` computes its work."
)
# What bounds work, by `op_efficiency.bound`.
# Why work may be faster than the peak allows.
ABOVE_PEAK = (
    "inputs may come from a cache, the formula may count too much, or the peak is not that of the "
    "device"
)
BOUNDS = {
    "compute": "compute: at least 60% of the peak",
    "memory": "memory: at least 60% of the bandwidth",
    "launch": "launch: launching takes longer than running",
    "neither": "neither: less than 60% of both",
}


def efficiencies(connection: duckdb.DuckDBPyConnection, run_id: str, level: str) -> list[Section]:
    """Return a section for each device of a run, or for its hosts. `level` is one of `LEVELS`."""
    devices = limits({"run_id": run_id}).rows(connection)
    return [
        replace(
            of_device(run_id, {"device_id": row["device_id"]}, level),
            of=(run_id, f"rank {row['rank']}", _device(row)),
            totals=totals({"run_id": run_id, "device_id": row["device_id"]}),
            note=peaks_of(row),
        )
        for row in devices
    ]


def of_device(
    run_id: str | None,
    device: Mapping[str, Scalar],
    level: str,
    steps: Steps = WHOLE,
    *,
    stage: str | None = None,
    search: str = "",
) -> Section:
    """Return the efficiency of work on a device, the time that can be saved first.

    `device` has the conditions for rows of the device. `stage` is a stage of pipeline calls, and
    `search` a text that names must contain.
    """
    return Section(
        "Distance to the limits",
        "efficiency_of_steps",
        select(
            COLUMNS,
            "efficiency_of_steps",
            {**device, "level": level},
            arguments=(run_id, *steps, stage),
            containing=("name", search),
            order_by="saved_ns DESC NULLS LAST, work_ns DESC, name, input_dims",
        ),
        labels={"name": {"op": "operator"}.get(level, level), "input_dims": "shapes"},
    )


def limits(where: Mapping[str, Value]) -> Query:
    """Return the query for the devices of metrics, with their models and bandwidths.

    `where` has conditions on the columns `run_id`, `rank`, `device_id` and `device`.
    """
    return select(
        "limits.*, efficiency.device, (SELECT coalesce(list(DISTINCT tflop_per_s_from), []) "
        "FROM device_peaks AS peaks WHERE peaks.run_id = efficiency.run_id "
        "AND peaks.device_id = efficiency.device_id) AS peaks_from",
        "run_efficiency AS efficiency INNER JOIN device_limits AS limits "
        "ON efficiency.run_id = limits.run_id AND efficiency.device_id = limits.device_id",
        {f"efficiency.{column}": value for column, value in where.items()},
        order_by="efficiency.rank, efficiency.device",
    )


def totals(where: Mapping[str, Value]) -> Query:
    """Return the query for the efficiency of the median step on devices."""
    return select("*", "run_efficiency", where, order_by="rank, device")


def modules(
    run_id: str, columns: str, device: Mapping[str, Scalar], steps: Steps, *, search: str = ""
) -> Query:
    """Return the query for the nn.Modules of a rank, in the order of the tree.

    `columns` are those of `module_ranking_of_steps`. Those of `MODULE_COLUMNS` follow.
    """
    of = ", ".join(map(literal, (run_id, *steps)))
    return select(
        f"{columns}, {MODULE_COLUMNS}",
        f"module_ranking_of_steps({of}) "
        f"LEFT JOIN module_efficiency_of_steps({of}) USING (rank, module_id)",
        {"rank": device["rank"]},
        containing=("name", search),
        order_by="place",
    )


def of_stages(run_id: str) -> Query:
    """Return the query for the stages of a run's pipeline calls: `stage` and `has_steps`.

    `has_steps` is whether operators of the stage are in steps.
    """
    return select(
        "stages.stage, count(op.step) > 0 AS has_steps",
        "(SELECT DISTINCT run_id, stage FROM stages) AS stages "
        "LEFT JOIN op_work AS work "
        "ON stages.run_id = work.run_id AND stages.stage = work.stage "
        "LEFT JOIN ops AS op ON work.run_id = op.run_id AND work.op_id = op.event_id",
        {"stages.run_id": run_id},
        group_by="stages.stage",
        order_by="list_position(['encode', 'denoise', 'decode', 'other'], stages.stage)",
    )


def stage_totals(where: Mapping[str, Value], stage: str) -> Query:
    """Return the query for the efficiency of a stage of pipeline calls on devices."""
    where = {**where, "level": "stage", "stage": stage}
    return select("*", "stage_efficiency", where, order_by="pipeline, rank, device")


def stages(where: Mapping[str, Value], columns: str) -> Query:
    """Return the query for stages of pipeline calls, with their time and efficiency.

    `columns` are those of `stage_summary` and `stage_efficiency`.
    """
    same = [
        f"stages.{key} = efficiency.{key}" for key in ("run_id", "device_id", "pipeline", "level")
    ]
    same += [
        f"stages.{key} IS NOT DISTINCT FROM efficiency.{key}" for key in ("stage", "block_class")
    ]
    reached = (
        "tflop_per_s, efficiency.tb_per_s, efficiency.mfu_percent, efficiency.bandwidth_percent, "
        "efficiency.known_percent"
    )
    return select(
        columns,
        f"(SELECT stages.*, efficiency.{reached} FROM stage_summary AS stages "
        f"INNER JOIN stage_efficiency AS efficiency ON {' AND '.join(same)})",
        where,
        order_by="rank, device, pipeline, ordinal, level DESC, wall_ns DESC",
    )


def sources_of(row: Mapping[str, Any]) -> str:
    """Return where the peaks of a device come from; empty if they are unknown. See `limits`."""
    origins = {row["tb_per_s_from"], *row["peaks_from"]}
    texts = [text for origin, text in SOURCES.items() if origin in origins]
    return " and ".join(texts).format(model=row["model"])


def peaks_of(row: Mapping[str, Any]) -> str:
    """Return where the peaks of a device come from, or why they are unknown. See `limits`."""
    ignored = "".join(
        f" Tag {tag} is ignored: it names no peak, or its value is not a number from 1e-6 to 1e6."
        for tag in row["ignored_tags"]
    )
    if sources := sources_of(row):
        return f"Peaks from {sources}.{ignored}"
    several = f" ({', '.join(row['models'])})" if len(row["models"]) > 1 else ""
    name = f" of {row['device_name']}" if row["device_name"] else ""
    reason = NO_MODEL[row["model_reason"]]
    return f"The peaks{name} are unknown: {reason}{several}. {HOW_TO_GIVE_PEAKS}{ignored}"


def _device(row: Mapping[str, Scalar]) -> str:
    return "host" if row["device"] is None else f"device {row['device']}"
