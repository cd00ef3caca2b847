"""What changed between two sides, in metrics; and what to bear in mind when reading them."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.compare import medians
from dashboard.compare.pair import BASE, OTHER, Pair
from dashboard.drawing import colours, formatting
from dashboard.query import select
from dashboard.widgets import median_step
from dashboard.widgets.metrics import HELP

MOST_WARNINGS = 4
TOP = 3
ALIKE = 0.005  # of the wall time: less is no difference worth a word
NO_DIFFERENCE = "no difference"
DEVICE = {
    "wall": ("Wall time", HELP["wall"]),
    "busy": ("Device busy", HELP["busy"]),
    "bubble": ("Idle", HELP["idle"]),
    "kernels": ("Kernels", HELP["kernels"]),
    "launches": ("Launches", HELP["launches"]),
}
HOST = {
    "wall": ("Wall time", HELP["wall"]),
    "busy": ("Host busy", HELP["host_busy"]),
    "bubble": ("Idle", HELP["host_idle"]),
    "activities": ("Operators", HELP["operators"]),
}


def show(pair: Pair) -> pd.DataFrame | None:
    """Warnings, the answer in a sentence, and the metrics, which it returns by name."""
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
                f"**{formatting.literal(run)}** has no trace, and so no time to compare: add one "
                "to it, or pick another run.",
                icon=":material/timer_off:",
            )


def _unlike(pair: Pair, sides: pd.DataFrame) -> str | None:
    """Why the metrics of the two sides are not divided, if they are not."""
    differing = select("subject", "comparability", arguments=[pair.base, pair.other])
    if "measure" in set(data.rows(differing)["subject"]):
        return "time of a device stands against time of a host"
    if (sides["steps_from"] == "run").nunique() > 1:
        return "a whole recording stands against a step"
    return None


def _answer(pair: Pair, frame: pd.DataFrame, sides: pd.DataFrame, unlike: str | None) -> None:
    """The wall times and their ratio, and the parts that changed most."""
    wall = frame.loc["wall"]
    base, other = float(wall[BASE]), float(wall[OTHER])
    names = {side: f"**{formatting.literal(name)}**" for side, name in pair.names.items()}
    of, how_sure = {BASE: "", OTHER: ""}, ""
    if pair.groups is not None:
        of = {side: f" ({medians.spread(pair.groups, wall, side)})" for side in of}
        how_sure = f" ({medians.how_sure(pair.groups, wall)})"
    how_sure = "" if unlike or ratio(base, other) == NO_DIFFERENCE else how_sure
    each = "" if sides["step"].isna().any() else f" in its {pair.step_name}"
    said = (
        f"{names[OTHER]} takes **{formatting.duration(other)}**{each}{of[OTHER]} where "
        f"{names[BASE]} takes **{formatting.duration(base)}**{of[BASE]}: "
        f"**{unlike or ratio(base, other)}**{how_sure}."
    )
    parts = frame[frame["is_part"] & (frame["change"].abs() > 0)]
    parts = parts.reindex(parts["change"].abs().sort_values(ascending=False).index)[:TOP]
    if abs(other - base) > ALIKE * base and len(parts):
        most = " · ".join(
            f"{colours.label(colours.part_of(str(part)))} **{formatting.change(row.change)}**"
            for part, row in zip(parts.index, parts.itertuples(), strict=True)
        )
        said += f"  \nMost of the change: {most}"
    st.markdown(said)


def ratio(base: float, other: float) -> str:
    """How many times as fast, or as long, the second time is."""
    if not base or not other or abs(other - base) <= ALIKE * base:
        return NO_DIFFERENCE
    if other < base:
        return f"{formatting.three_digits(base / other)} times as fast"
    return f"{formatting.three_digits(other / base)} times as long"


def _metrics(pair: Pair, frame: pd.DataFrame, labels: dict[str, tuple[str, str]]) -> None:
    """A change of medians has a colour only where it is told from chance."""
    with st.container(horizontal=True):
        for metric, (label, help) in labels.items():
            row = frame.loc[metric]
            if formatting.missing(row["base"]) and formatting.missing(row["other"]):
                continue
            written = formatting.duration if row["unit"] == "ns" else formatting.per_step
            change = formatting.change(row["change"], written)
            if not formatting.missing(row["percent"]):
                change += f" ({formatting.percent_change(row['percent'])})"
            none = formatting.missing(row["change"])
            is_told = pair.groups is None or row["is_significant"]
            test = "" if pair.groups is None else medians.rank_test(pair.groups, row["p"])
            st.metric(
                label,
                f"{written(row['base'])} → {written(row['other'])}",
                None if none else change,
                delta_color="off" if none or row["change"] == 0 or not is_told else "inverse",
                delta_arrow="off" if none or row["change"] == 0 else "auto",
                help=f"{help} Medians; rank test: {test}." if test else help,
            )


def _steps(pair: Pair, sides: pd.DataFrame) -> None:
    """Which step each side's metrics are of, how its steps were found, and on which device."""
    said = []
    for side, run in pair.runs.items():
        place = sides.loc[side]
        rank = int(place["rank"])
        device = None if formatting.missing(place["device"]) else int(place["device"])
        (row,) = data.rows(
            select(
                "steps, steps_from, step_name, step, q1_wall_ns, q3_wall_ns",
                "run_metrics",
                {"run_id": run, "rank": rank, "device": device},
            )
        ).itertuples()
        on_device = f" device {device}" if place["measure"] == "device" else ""
        where = f"rank {rank}{on_device}"
        named = median_step.described(row)
        if pair.nth_step:
            named = f"step {int(place['step'])}, measured step {pair.nth_step} of {row.steps}"
        said.append(f"**{formatting.literal(run)}**, {where}: {named}")
    of = "" if pair.groups is None else "Medians of the runs' median steps. The median runs: "
    st.caption(of + "; ".join(said) + ".")


def _warn(pair: Pair) -> None:
    """What differs besides the thing under test."""
    warnings = _not_comparable(pair)
    if not warnings:
        return
    lines = "".join(f"\n- {text}" for text in warnings[:MOST_WARNINGS])
    st.warning(f"Bear in mind:\n{lines}", icon=":material/balance:")
    if len(warnings) > MOST_WARNINGS:
        rest = warnings[MOST_WARNINGS:]
        with st.expander(formatting.counted(len(rest), "more difference")):
            st.markdown("".join(f"\n- {text}" for text in rest))


def _not_comparable(pair: Pair) -> list[str]:
    """The warnings of `comparability`; of groups also what sets a run apart in its own."""
    if pair.groups is not None:
        texts = [caveat.warning for caveat in pair.groups.warnings]
    else:
        query = select("warning", "comparability", arguments=[pair.base, pair.other])
        texts = list(data.rows(query)["warning"])
    return [formatting.literal(str(text)) for text in texts if text]
