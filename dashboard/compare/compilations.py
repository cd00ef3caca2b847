"""Compilations by torch.compile in two runs, with reasons, phases and graph breaks."""

import math

import pandas as pd
import streamlit as st

import ingest
from dashboard import data
from dashboard.compare import sections
from dashboard.compare.pair import BASE, OTHER, Pair
from dashboard.drawing import colours, formatting, tables
from dashboard.widgets import menu
from ingest.server import select

MAX_ROWS = 500
COLUMNS = (
    "run_id, compile_id, compiled_frame, is_recompile, is_in_measured_step, dur_ns, reason, cache, "
    "graph_ops, guards, graph_breaks, restarts, fail_type, fail_reason, evidence, rank, start_ns, "
    "stack"
)


def show(pair: Pair, wall: pd.Series) -> None:
    """Show the compilations of both runs with their reasons, and the phases and graph breaks.

    `wall` is the row of `medians.metrics` for the wall time.
    """
    heading = menu.heading_line(sections.TITLES[sections.COMPILATIONS], sections.COMPILATIONS)
    runs = {"run_id": list(pair.runs.values())}
    query = select(
        COLUMNS, "compilations", runs, order_by="run_id, rank, start_ns, compile_id", limit=MAX_ROWS
    )
    frame = data.rows(query)
    if frame.empty:
        st.caption(
            "No compilations were recorded in either run. Both ran eagerly, or compiled before the "
            "recording. A torch compile log (`TORCH_TRACE`) next to the trace records all "
            "compilations and their reasons."
        )
        return
    summaries = [_summary(run, frame[frame["run_id"] == run]) for run in runs["run_id"]]
    st.caption(" ".join([*summaries, *_paid(pair, frame, wall)]))
    chosen = _table(frame, pair)
    with heading:
        menu.show({"compilations": query}, "compilations")
    if chosen is not None:
        _reason(chosen)
    left, right = st.container(key="roomy-phases").columns([3, 2], gap="medium")
    with left:
        _phases(pair)
    with right:
        _breaks(pair)


def _summary(run: str, frame: pd.DataFrame) -> str:
    name = f"**{formatting.literal(run)}**"
    if frame.empty:
        return f"{name}: no compilations were recorded."
    recompilations = int(frame["is_recompile"].fillna(False).sum())
    text = formatting.counted(len(frame), "compilation")
    if recompilations:
        text += f" (including {formatting.counted(recompilations, 'recompilation')})"
    if frame["dur_ns"].notna().any():
        text += f", {formatting.duration(frame['dur_ns'].sum())} in total"
    measured = int(frame["is_in_measured_step"].fillna(False).sum())
    if not frame["is_in_measured_step"].isna().any():
        text += f", {measured or 'none'} in measured steps"
    elif measured:
        text += f", at least {measured} in measured steps"
    else:
        text += ", unknown whether in measured steps"
    return f"{name}: {text}."


def _paid(pair: Pair, frame: pd.DataFrame, wall: pd.Series) -> list[str]:
    """Return a sentence that says when the time that a run compiled longer is saved, if it is.

    The slowest rank of a run counts.
    """
    sides = data.rows(select("step", "compared_runs", arguments=pair.arguments))
    is_unlike = formatting.missing(wall["percent"])
    if pair.groups is not None or is_unlike or sides["step"].isna().any():
        return []
    of_ranks = frame.groupby(["run_id", "rank"])["dur_ns"].sum(min_count=1)
    compile_ns = of_ranks.groupby("run_id").max().reindex(pair.runs.values(), fill_value=0)
    wall_ns = pd.Series({pair.runs[side]: float(wall[side]) for side in (BASE, OTHER)})
    slow, fast = wall_ns.idxmax(), wall_ns.idxmin()
    longer_ns, saved_ns = compile_ns[fast] - compile_ns[slow], wall_ns[slow] - wall_ns[fast]
    if formatting.missing(longer_ns) or longer_ns <= 0 or saved_ns <= 0:
        return []
    return [
        f"**{formatting.literal(fast)}** compiled {formatting.duration(longer_ns)} longer and "
        f"saves {formatting.duration(saved_ns)} in each step, so compiling pays off after "
        f"{formatting.counted(math.ceil(longer_ns / saved_ns), 'step')}."
    ]


def _table(frame: pd.DataFrame, pair: Pair) -> pd.Series | None:
    always = ["start_ns", "stack", "fail_reason"]
    hidden = [column for column in frame if column in always or frame[column].isna().all()]
    hidden += ["rank"] if frame["rank"].nunique() == 1 else []
    answer = {True: "yes", False: "no"}
    shown = frame.assign(
        is_recompile=frame["is_recompile"].map(answer),
        is_in_measured_step=frame["is_in_measured_step"].map(answer),
    )
    rows = tables.show(
        shown,
        "compilations",
        key=f"compilations-{pair.key}",
        hidden=hidden,
        labels={
            "run_id": "run",
            "compile_id": "id",
            "compiled_frame": "function",
            "is_recompile": "recompilation",
            "is_in_measured_step": "in a measured step",
        },
        select="single-row",
    )
    return frame.iloc[rows[0]] if rows else None


def _reason(row: pd.Series) -> None:
    """Show the long texts of one compilation."""
    for column, heading in (
        ("reason", "Why it was recompiled"),
        ("fail_reason", "Why it failed"),
    ):
        if not formatting.missing(row[column]):
            st.caption(heading)
            st.code(str(row[column])[: tables.MAX_CELL_LENGTH], language=None, wrap_lines=True)
    stack = row["stack"]
    if stack is not None and len(stack):
        st.caption("Called from")
        st.code("\n".join(map(str, stack))[: tables.MAX_CELL_LENGTH], language=None, height=200)
    elif formatting.missing(row["reason"]):
        st.caption("No reason or stack was recorded for this compilation.")


def _phases(pair: Pair) -> None:
    """Show the time of each phase on both sides, summed over ranks."""
    of_side = "coalesce(sum(self_ns) FILTER (run_id = {}), 0)::BIGINT AS {}"
    query = select(
        ", ".join(
            [
                "phase",
                of_side.format(ingest.literal(pair.base), "base_ns"),
                of_side.format(ingest.literal(pair.other), "other_ns"),
                "other_ns - base_ns AS change_ns",
            ]
        ),
        "phase_ranking",
        {"run_id": list(pair.runs.values())},
        group_by="phase",
        order_by="greatest(base_ns, other_ns) DESC, phase",
        limit=MAX_ROWS,
    )
    frame = data.rows(query)
    if frame.empty:
        st.caption("Compilation phases were not recorded.")
        return
    menu.heading("Compilation phases", {"phases": query}, "phases")
    tables.show(
        frame,
        "phase_ranking",
        key=f"phases-{pair.key}",
        labels={"base_ns": "from", "other_ns": "to"},
        bars=["change_ns"],
        colours=[colours.NEUTRAL] * len(frame),
    )


def _breaks(pair: Pair) -> None:
    query = select(
        "run_id, compile_id, reason, user_frame",
        "graph_breaks",
        {"run_id": list(pair.runs.values())},
        order_by="run_id, time_ns",
        limit=MAX_ROWS,
    )
    frame = data.rows(query)
    st.markdown("**Graph breaks**")
    if frame.empty:
        st.caption("No graph breaks were recorded.")
        return
    tables.show(
        frame,
        "graph_breaks",
        key=f"breaks-{pair.key}",
        labels={"run_id": "run", "compile_id": "id", "user_frame": "function"},
    )
    menu.show({"graph breaks": query}, "graph breaks")
