"""Details of a row of `op_diff`: the aligned operators of both sides."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.compare import op_rows
from dashboard.compare.pair import BASE, OTHER, Pair
from dashboard.drawing import formatting, tables
from dashboard.widgets import menu
from ingest.server import select

MAX_OPERATORS = 500
READABLE = "LAMBDA op: struct_update(op, shapes := shapes_text(op.shapes, NULL))"
EVIDENCE = {
    "provenance": "Aligned by torch's compile log, which names the operators of this kernel.",
    "order": "Aligned by execution order, between operators that torch's compile log names.",
    "source": "Aligned by function and nn.Modules.",
    "shapes": "Aligned by name and shapes.",
    "kernel": "Aligned by kernel.",
    "fusion": "Aligned only by the name of the fused kernel, which is weaker. A compile log next "
    "to the trace would name its operators.",
    "name": "Aligned only by name, which is weaker. Python stacks in the profiles would help.",
    "none": "Not aligned, because nothing on the other side matches.",
}


def work_items_of(pair: Pair, row_id: str | None) -> dict[str, set[int]]:
    """Return the ids of the work items of each side in a row of `op_diff`, if a row is given."""
    if row_id is None:
        return {}
    query = select("group_ids", "op_diff", {"row_id": row_id}, arguments=pair.arguments)
    groups = [str(group) for row in op_rows.rows(pair, query)["group_ids"] for group in row][
        :MAX_OPERATORS
    ]
    if not groups:
        return {}
    aligned = select(
        "side, work_item_id", "alignment", {"group_id": groups}, arguments=pair.arguments
    )
    frame = data.rows(aligned)
    return {side: set(work_items) for side, work_items in frame.groupby("side")["work_item_id"]}


def show(pair: Pair, row: pd.Series) -> None:
    """Show the row's operators: the first run on the left, the second on the right."""
    name = str(row["name"])
    st.subheader(formatting.literal(formatting.short_name(name)), anchor=False)
    if formatting.short_name(name) != name:
        st.code(name[: tables.MAX_CELL_LENGTH], language=None, wrap_lines=True)
    st.markdown(_summary(row))
    for column, label in (("host_frame", "Function"), ("module", "Module")):
        if not formatting.missing(row[column]) and row[column]:
            st.caption(f"{label}: {formatting.literal(str(row[column]))}")
    left, right = st.container(key="roomy-sides").columns(2, gap="medium")
    with left:
        _side(pair, BASE, row)
    with right:
        _side(pair, OTHER, row)


def _summary(row: pd.Series) -> str:
    """Return a text about the row's times, calls, kernels, launches and evidence."""
    times = f"{formatting.duration(row['base_ns'])} → {formatting.duration(row['other_ns'])}"
    parts = [f"**{times}** ({formatting.change(row['change_ns'])})"]
    calls = [formatting.mean_count(row[f"{side}_calls"]) for side in (BASE, OTHER)]
    parts.append(f"calls {calls[0]} → {calls[1]}")
    for what in ("kernels", "launches"):
        if not formatting.missing(row[f"base_{what}"]) or not formatting.missing(
            row[f"other_{what}"]
        ):
            saved = row[f"{what}_saved"]
            word = "fewer" if saved >= 0 else "more"
            parts.append(f"{formatting.mean_count(abs(saved))} {word} {what}")
    evidence = EVIDENCE.get(str(row["evidence"]), str(row["evidence"]))
    return f"{' · '.join(parts)}.  \n{evidence}"


def _side(pair: Pair, side: str, row: pd.Series) -> None:
    """Show the operators of one side."""
    st.markdown(f"**{formatting.literal(pair.runs[side])}**")
    query = select(
        f"unnest(list_transform({side}_ops, {READABLE}), recursive := true)",
        "op_diff",
        {"row_id": str(row["row_id"])},
        arguments=pair.arguments,
        limit=MAX_OPERATORS,
    )
    frame = op_rows.rows(pair, query).rename(columns={"ns": "time_ns"})
    if frame.empty:
        st.caption("No operators of this run match.")
        return
    empty = [column for column in ("host_frame", "shapes") if frame[column].isna().all()]
    order = ["name", "calls", "time_ns", "host_frame", "shapes"]
    tables.show(
        frame[order],
        "op_diff",
        key=f"ops-{side}-{row['row_id']}",
        hidden=empty,
        labels={"time_ns": "time", "host_frame": "function"},
    )
    menu.show({side: query}, f"{side}-operators")
    if len(frame) == MAX_OPERATORS:
        st.caption(f"The first {MAX_OPERATORS} operators are shown.")
