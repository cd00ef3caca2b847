"""The changes of metrics between two sides, and warnings about their comparability."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.compare import medians
from dashboard.compare.pair import BASE, OTHER, Pair
from dashboard.drawing import colours, formatting
from dashboard.widgets import median_step
from dashboard.widgets.metrics import HELP
from ingest.server import select, units

MAX_WARNINGS = 4
TOP = 3
IGNORED_CHANGE = 0.005  # fraction of the wall time up to which a difference is ignored
NO_DIFFERENCE = "no difference"
DEVICE = {
    "wall": ("Wall time", HELP["wall"]),
    "busy": ("Device busy", HELP["busy"]),
    "idle": ("Idle", HELP["idle"]),
    "kernels": ("Kernels", HELP["kernels"]),
    "launches": ("Launches", HELP["launches"]),
}
HOST = {
    "wall": ("Wall time", HELP["wall"]),
    "busy": ("Host busy", HELP["host_busy"]),
    "idle": ("Idle", HELP["host_idle"]),
    "activities": ("Operators", HELP["operators"]),
}


def show(pair: Pair) -> pd.DataFrame | None:
    """Show warnings, a summary sentence, and the metrics. Return the metrics by name.

    Return None if there is nothing to compare.
    """
    frame = medians.metrics(pair)
    wall = frame.loc["wall"] if "wall" in frame.index else None
    if wall is None or formatting.missing(wall["base"]) or formatting.missing(wall["other"]):
        _nothing_to_compare(pair)
        return None
    _warn(pair)
    sides = data.rows(
        select("*", "compared_runs", arguments=pair.arguments, order_by="side")
    ).set_index("side")
    if unlike := _unlike(pair, sides):
        frame = frame.assign(percent=float("nan"))
    _answer(pair, frame, sides, unlike)
    on_device = bool((sides["measure"] == "device").all())
    _metrics(pair, frame, DEVICE if on_device else HOST)
    _steps(pair, sides)
    return frame


def _nothing_to_compare(pair: Pair) -> None:
    known = set(
        data.rows(select("DISTINCT run_id", "run_metrics", {"run_id": list(pair.runs.values())}))[
            "run_id"
        ]
    )
    for run in pair.runs.values():
        if run not in known:
            st.info(
                f"**{formatting.literal(run)}** has no trace, so it has no times to compare. Add a "
                "trace to it, or pick another run.",
                icon=":material/timer_off:",
            )


def _unlike(pair: Pair, sides: pd.DataFrame) -> str | None:
    """Return the reason why the two sides have no meaningful ratio, or None if they have one."""
    if "measure" in set(_differences(pair)["subject"]):
        return "not comparable, because one is device time and the other host time"
    if (sides["steps_from"] == "run").nunique() > 1:
        return "not comparable, because one is a whole recording and the other a step"
    return None


def _answer(pair: Pair, frame: pd.DataFrame, sides: pd.DataFrame, unlike: str | None) -> None:
    """Show the wall times and their ratio, and the parts that changed most."""
    wall = frame.loc["wall"]
    base, other = float(wall[BASE]), float(wall[OTHER])
    names = {side: f"**{formatting.literal(name)}**" for side, name in pair.names.items()}
    spread, confidence = {BASE: "", OTHER: ""}, ""
    if pair.groups is not None:
        spread = {side: f" ({medians.spread(pair.groups, wall, side)})" for side in spread}
        confidence = f" ({medians.confidence(pair.groups, wall)})"
    confidence = "" if unlike or ratio(base, other) == NO_DIFFERENCE else confidence
    step = "" if sides["step"].isna().any() else f" in its {pair.step_name}"
    text = (
        f"{names[OTHER]} takes **{formatting.duration(other)}**{step}{spread[OTHER]}, "
        f"{names[BASE]} takes **{formatting.duration(base)}**{spread[BASE]}: "
        f"**{unlike or ratio(base, other)}**{confidence}."
    )
    parts = frame[frame["is_part"] & (frame["change"].abs() > 0)]
    parts = parts.reindex(parts["change"].abs().sort_values(ascending=False).index)[:TOP]
    if abs(other - base) > IGNORED_CHANGE * base and len(parts):
        most = " · ".join(
            f"{colours.label(colours.part_of(str(part)))} **{formatting.change(row.change)}**"
            for part, row in zip(parts.index, parts.itertuples(), strict=True)
        )
        text += f"  \nLargest changes: {most}"
    st.markdown(text)


def ratio(base: float, other: float) -> str:
    """Return the ratio of the times as a text, for example `1.5 times as fast`."""
    if not base or not other or abs(other - base) <= IGNORED_CHANGE * base:
        return NO_DIFFERENCE
    if other < base:
        return f"{formatting.three_digits(base / other)} times as fast"
    return f"{formatting.three_digits(other / base)} times as long"


def _metrics(pair: Pair, frame: pd.DataFrame, labels: dict[str, tuple[str, str]]) -> None:
    """Show the metrics of both sides.

    A change of medians has a colour only if it is significant.
    """
    with st.container(horizontal=True):
        for metric, (label, help) in labels.items():
            row = frame.loc[metric]
            if formatting.missing(row["base"]) and formatting.missing(row["other"]):
                continue
            written = formatting.duration if row["unit"] == "ns" else formatting.mean_count
            change = formatting.change(row["change"], written)
            if not formatting.missing(row["percent"]):
                change += f" ({formatting.percent_change(row['percent'])})"
            none = formatting.missing(row["change"])
            is_significant = pair.groups is None or row["is_significant"]
            test = "" if pair.groups is None else medians.rank_test(pair.groups, row["p"])
            st.metric(
                label,
                f"{written(row['base'])} → {written(row['other'])}",
                None if none else change,
                delta_color="off"
                if none or row["change"] == 0 or not is_significant
                else "inverse",
                delta_arrow="off" if none or row["change"] == 0 else "auto",
                help=f"{help} Medians of the runs. Rank test: {test}." if test else help,
            )


def _steps(pair: Pair, sides: pd.DataFrame) -> None:
    """Show the step and device of each side's metrics, and how its steps were found."""
    texts = []
    for side, run in pair.runs.items():
        measured = sides.loc[side]
        rank = int(measured["rank"])
        device = None if formatting.missing(measured["device"]) else int(measured["device"])
        (row,) = data.rows(
            select(
                "default_reason, steps, steps_from, step_name, step, compared_steps, q1_wall_ns, "
                "q3_wall_ns",
                "run_metrics",
                {"run_id": run, "rank": rank, "device": device},
            )
        ).itertuples()
        on_device = f" device {device}" if measured["measure"] == "device" else ""
        reason = None if formatting.missing(row.default_reason) else row.default_reason
        where = f"{units.rank_name(rank, reason)}{on_device}"
        step = median_step.described(row)
        if pair.nth_step:
            step = f"step {int(measured['step'])}, measured step {pair.nth_step} of {row.steps}"
        texts.append(f"**{formatting.literal(run)}**, {where}: {step}")
    prefix = "" if pair.groups is None else "Medians of the runs' median steps. Median runs: "
    st.caption(prefix + "; ".join(texts) + ".")


def _warn(pair: Pair) -> None:
    """Warn about other differences, which can affect the comparison."""
    warnings = _not_comparable(pair)
    if not warnings:
        return
    lines = "".join(f"\n- {text}" for text in warnings[:MAX_WARNINGS])
    st.warning(f"These differences can affect the comparison:\n{lines}", icon=":material/balance:")
    if len(warnings) > MAX_WARNINGS:
        rest = warnings[MAX_WARNINGS:]
        with st.expander(formatting.counted(len(rest), "more difference")):
            st.markdown("".join(f"\n- {text}" for text in rest))


def _not_comparable(pair: Pair) -> list[str]:
    """Return the warnings of `comparability`.

    For groups, add warnings about runs that differ within a group.
    """
    if pair.groups is not None:
        texts = [caveat.warning for caveat in pair.groups.warnings]
    else:
        texts = list(_differences(pair)["warning"])
    return [formatting.literal(str(text)) for text in texts if text]


def _differences(pair: Pair) -> pd.DataFrame:
    """Return the subjects and warnings of `comparability`, which takes a tenth of a second."""
    runs = [pair.base, pair.other]
    return data.rows(select("subject, warning", "comparability", arguments=runs))
