"""What `ingest top --efficiency` and page Roofline say: how close work comes to the limits."""

from collections.abc import Mapping
from dataclasses import replace

import duckdb

from ingest.reports.query import Query, Scalar, Value, select
from ingest.reports.section import Section
from ingest.reports.top import WHOLE, Steps

LEVELS = {
    "op": "operators with equal shapes",
    "kernel": "longest kernel of each operator",
    "module": "innermost nn.Module around each operator",
}
COLUMNS = (
    "name, input_dims, dtype, work_ns, saved_ns, peak_percent, bandwidth_percent, bound, calls, "
    "tflop_per_s, tb_per_s, percent, saved_80_ns, intensity, flops, bytes, kind, precision, warning"
)
# What users can do if the limits of a device are not known.
NO_PEAKS = (
    "its peaks are unknown; give them with `ingest edit RUN --tag peak_bfloat16=989 "
    "--tag peak_bandwidth=3.35` (10¹² per second), or record runs beside a calibration "
    "(`capture calibrate`)"
)


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
    search: str = "",
) -> Section:
    """Return the efficiency of work on a device, the time that can be saved first.

    `device` has the conditions for rows of the device. `search` is a text that names must contain.
    """
    return Section(
        "Distance to the limits",
        "efficiency_of_steps",
        select(
            COLUMNS,
            "efficiency_of_steps",
            {**device, "level": level},
            arguments=(run_id, *steps),
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
        "limits.*, efficiency.device",
        "run_efficiency AS efficiency INNER JOIN device_limits AS limits "
        "ON efficiency.run_id = limits.run_id AND efficiency.device_id = limits.device_id",
        {f"efficiency.{column}": value for column, value in where.items()},
        order_by="efficiency.rank, efficiency.device",
    )


def totals(where: Mapping[str, Value]) -> Query:
    """Return the query for the efficiency of the median step on devices."""
    return select("*", "run_efficiency", where, order_by="rank, device")


def peaks_of(row: Mapping[str, Scalar]) -> str:
    """Return where the peaks of a device come from, as a clause. `row` is of `limits`."""
    if row["model"]:
        return f"peaks of {row['model']}, from its datasheet"
    if row["tb_per_s_from"] == "tag":
        return "peaks from the run's tags"
    if row["tb_per_s_from"] == "calibration":
        return "peaks as `capture calibrate` measured them"
    return NO_PEAKS


def _device(row: Mapping[str, Scalar]) -> str:
    return "host" if row["device"] is None else f"device {row['device']}"
