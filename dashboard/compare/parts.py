"""The parts of the wall time. Their changes add up to the change of the wall time."""

import pandas as pd
import streamlit as st

from dashboard.compare import medians, sections
from dashboard.compare.pair import BASE, OTHER, Pair
from dashboard.drawing import colours, formatting, tables
from dashboard.drawing.tables import WRITTEN
from dashboard.widgets import menu

SIDES = {"base": "from", "other": "to"}


def show(pair: Pair, metrics: pd.DataFrame) -> None:
    """Show the parts that changed, and all metrics on request."""
    queries = {"metrics": medians.query_of(pair)}
    menu.heading(sections.TITLES[sections.METRICS], queries, "run-diff", anchor=sections.METRICS)
    parts, are_given = medians.in_parts(pair, metrics)
    if not are_given:
        st.caption(
            "The medians of the parts do not add up to the median wall times, because each median "
            "may come from another run. The parts below are from the runs with the median wall "
            f"times, **{formatting.literal(pair.base)}** and **{formatting.literal(pair.other)}**."
        )
    changed = parts[parts["is_part"] & parts["change"].notna() & (parts["change"] != 0)]
    if changed.empty:
        st.caption("No part of the wall time changed.")
    else:
        by_size = changed["change"].abs().sort_values(ascending=False).index
        _parts(pair, parts.loc["wall"], changed.reindex(by_size))
        text = "The changes of the parts add up to the change of the wall time."
        if left_out := int(parts["is_part"].sum()) - len(changed):
            text += f" Left out: {formatting.counted(left_out, 'part')} without a change."
        st.caption(text)
    every = st.expander("All metrics", key="all-metrics", on_change="rerun")
    if every.open:
        with every:
            _table(pair, metrics)


def _parts(pair: Pair, wall: pd.Series, changed: pd.DataFrame) -> None:
    """Show the wall time and the parts that changed, each with a bar for its change."""
    parts = [colours.part_of(str(metric)) for metric in changed.index]
    columns = ["base", "other", "change", "percent"]
    rows = pd.concat([wall.to_frame().T, changed])[columns].astype(float)
    names = [f"wall time, {pair.step_name}", *map(colours.label, parts)]
    rows.insert(0, "part", names)
    tables.show(
        rows.rename(columns={name: f"{name}_ns" for name in columns[:3]}).rename(
            columns={"percent": "change_percent"}
        ),
        "run_diff",
        key=f"parts-{pair.key}",
        labels={"base_ns": "from", "other_ns": "to", "change_percent": "change, %"},
        bars=["change_ns"],
        colours=[colours.NEUTRAL, *map(colours.of, parts)],
    )


def _table(pair: Pair, metrics: pd.DataFrame) -> None:
    frame = metrics.reset_index()
    frame = frame[frame["base"].notna() | frame["other"].notna()]
    rows = pd.DataFrame(
        {
            "metric": [
                colours.label(colours.part_of(metric)) if is_part else metric.replace("_", " ")
                for metric, is_part in zip(frame["metric"], frame["is_part"], strict=True)
            ],
            **{
                column: [
                    WRITTEN[unit](value)
                    for unit, value in zip(frame["unit"], frame[column], strict=True)
                ]
                for column in ("base", "other")
            },
            "change": [
                formatting.change(value, WRITTEN[unit])
                for unit, value in zip(frame["unit"], frame["change"], strict=True)
            ],
            "change, %": [formatting.percent_change(value) for value in frame["percent"]],
        }
    )
    if pair.groups is not None:
        for index, side in ((2, BASE), (4, OTHER)):
            rows.insert(index, f"{side}_spread", _spreads(frame, side))
        rows["rank test"] = [medians.rank_test(pair.groups, p) for p in frame["p"]]
        st.caption("The values are medians; ± is the median distance of the runs from the median.")
    tables.show(
        rows,
        "run_diff",
        key=f"metrics-{pair.key}",
        labels={**SIDES, "base_spread": "±", "other_spread": "±"},
        numbers=list(rows.columns[1:]),
    )


def _spreads(frame: pd.DataFrame, side: str) -> list[str]:
    """Return the spread of a side's runs around each median, or an empty text for one run."""
    return [
        "" if formatting.missing(value) else WRITTEN[unit](value)
        for unit, value in zip(frame["unit"], frame[f"{side}_spread"], strict=True)
    ]
