"""The time of each stage of a diffusers pipeline call."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import charts, colours, formatting, tables
from dashboard.widgets import menu, stages
from dashboard.widgets.view import View
from ingest.server import reports, select

EXPLAINED = (
    "The stages of a call: encoding of texts and images, the denoising loop with its classes of "
    "blocks, decoding, and other code. The times of the stages add up to the time of the call. "
    "The times of the blocks add up to the time of their stage. Device work counts in the stage "
    "that launched it. Idle time counts in the stage that launched the work that ended it."
)
ROW = ["level", "stage", "block_class"]
STACK = "parts"


def show(view: View) -> None:
    """Draw a table for each pipeline. Draw nothing if the run has no marks of stages."""
    if data.rows(select("stage", "stages", {"run_id": view.run}, limit=1)).empty:
        return
    query = reports.efficiency.stages(
        view.where(),
        "pipeline, calls, level, stage, block_class, occurrences, wall_ns, percent, busy_ns, "
        "idle_ns, host_ns, operators, peak_bytes, mfu_percent, tflop_per_s, tb_per_s, "
        "bandwidth_percent, known_percent",
    )
    frame = data.rows(query)
    if frame.empty:
        return
    of_parts = select(
        "pipeline, level, stage, block_class, part, ns",
        "stage_parts_of_calls",
        {**view.where(), "part <>": "overlap"},
        order_by="pipeline, level, stage, block_class, ordinal",
    )
    queries = {"stages": query, "parts": of_parts}
    menu.heading(stages.TITLE, queries, "stages", help=EXPLAINED, files=view.files)
    parts = data.rows(of_parts)
    charts.legend_of(set(parts["part"]))
    for pipeline, rows in frame.groupby("pipeline"):
        calls = int(rows["calls"].iloc[0])
        which = "one call" if calls == 1 else f"the call with the median time, of {calls:,} calls"
        st.caption(f"{formatting.literal(str(pipeline))}: {which}")
        shown = stages.labelled(rows).drop(columns=["pipeline", "calls"])
        shown.insert(1, STACK, _stacks(rows, parts[parts["pipeline"] == pipeline]))
        tables.show(
            shown,
            ["stage_efficiency", "stage_summary"],
            key=f"stages-{view.key}-{pipeline}",
            hidden=["host_ns"] if view.is_host else [],
            stacks=[STACK],
            labels={
                "wall_ns": "time",
                "host_ns": "on the host",
                "occurrences": "count",
                STACK: "parts of the call's time",
            },
        )


def _stacks(rows: pd.DataFrame, parts: pd.DataFrame) -> list[list[tuple[float, str, str]]]:
    """Return the parts of each row. Their widths add up to the row's share of the call's time.

    If work overlaps, the parts add up to more than the row's time, and each is drawn narrower.
    """
    parts = parts.sort_values("part", key=lambda names: names.map(colours.place))
    by_row = dict(list(parts.groupby([parts[name].fillna("") for name in ROW])))
    keys = rows[ROW].fillna("").itertuples(index=False, name=None)
    return [
        _stack(by_row[key], float(percent)) if key in by_row else []
        for key, percent in zip(keys, rows["percent"], strict=True)
    ]


def _stack(parts: pd.DataFrame, percent: float) -> list[tuple[float, str, str]]:
    return [
        (
            percent * part.ns / parts["ns"].sum(),
            colours.of(part.part),
            f"{colours.label(part.part)}: {formatting.duration(part.ns)}",
        )
        for part in parts.itertuples()
    ]
