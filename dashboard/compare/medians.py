"""Groups of runs on page Compare: medians, rank tests, and the median runs."""

import math

import pandas as pd
import streamlit as st

import ingest
from dashboard import data
from dashboard.compare.pair import BASE, OTHER, Pair
from dashboard.drawing import formatting, tables
from ingest.server import Query, reports

TOO_FEW = "too few runs"
ROUNDING = 1e-9  # fraction of the wall time up to which a difference is rounding
SHOWN = {"wall": "wall_ns", "busy": "busy_ns", "idle": "idle_ns"}  # metric → column


def metrics(pair: Pair) -> pd.DataFrame:
    """Return the metrics of both sides by name.

    For groups, these are medians, with spreads and the p-value of the rank test.
    """
    if pair.groups is None:
        return _of_two_runs(pair)
    columns = ["name", "unit", BASE, OTHER, "change", "percent", "is_part"]
    columns += ["base_spread", "other_spread", "p", "is_significant"]
    rows = [[getattr(metric, name) for name in columns] for metric in pair.groups.metrics]
    numbers = dict.fromkeys(
        [BASE, OTHER, "change", "percent", "base_spread", "other_spread"], float
    )
    return (
        pd.DataFrame(rows, columns=columns).astype(numbers).set_index("name").rename_axis("metric")
    )


def query_of(pair: Pair) -> Query:
    """Return the query for the metrics of `metrics`."""
    return _pair_query(pair) if pair.groups is None else Query(pair.groups.sql)


def in_parts(pair: Pair, frame: pd.DataFrame) -> tuple[pd.DataFrame, bool]:
    """Return metrics whose parts add up to the wall times, and whether `frame` has these metrics.

    Medians of parts need not add up to the median wall time. If they do not, return the metrics of
    the median runs.
    """
    if pair.groups is None or all(_adds_up(frame, side) for side in (BASE, OTHER)):
        return frame, True
    return _of_two_runs(pair), False


def _adds_up(frame: pd.DataFrame, side: str) -> bool:
    wall = float(frame.loc["wall", side])
    parts = float(frame[side][frame["is_part"]].sum())
    return math.isclose(parts, wall, rel_tol=ROUNDING, abs_tol=1e-3)


def _of_two_runs(pair: Pair) -> pd.DataFrame:
    return data.rows(_pair_query(pair)).set_index("metric")


def _pair_query(pair: Pair) -> Query:
    return reports.diff.metrics(pair.base, pair.other, pair.rank, pair.nth_step)


def rank_test(groups: ingest.Comparison, p: float | None) -> str:
    """Return the result of the rank test for a metric, as a text."""
    if p is None or formatting.missing(p):
        return formatting.NONE
    return TOO_FEW if groups.has_too_few else f"p = {p:.2g}"


def confidence(groups: ingest.Comparison, wall: pd.Series) -> str:
    """Return the result of the rank test for the wall time, with its meaning."""
    if wall["p"] is None or formatting.missing(wall["p"]):
        return "no rank test"
    result = rank_test(groups, wall["p"])
    if groups.has_too_few:
        return f"{result} to rule out chance"
    return f"{result}: {'unlikely to be' if wall['is_significant'] else 'may be'} chance"


def spread(groups: ingest.Comparison, wall: pd.Series, side: str) -> str:
    """Return the number of runs of a median, and their spread, as a text."""
    runs = len((groups.base if side == BASE else groups.other).runs)
    if runs == 1:
        return "one run"
    return f"median of {runs:,} runs, ± {formatting.duration(wall[f'{side}_spread'])}"


def introduce(pair: Pair) -> None:
    """Show the median runs, which the following sections compare, and the times of all runs."""
    if pair.groups is None:
        return
    st.subheader("The median runs", anchor=False)
    st.caption(
        "The sections below, such as operators, timelines and compilations, compare two runs: the "
        "run with the median wall time of each side."
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        for side, run in pair.runs.items():
            st.page_link(
                st.session_state["pages"]["operators"],
                label=f"{'From' if side == BASE else 'To'}: {formatting.literal(run)}",
                icon=":material/bar_chart:",
                query_params={"run": run},
            )
        st.button(
            "Compare only these two",
            icon=":material/compare_arrows:",
            type="tertiary",
            on_click=_only_these,
            args=[pair],
        )
    with st.expander(f"All {len(pair.all_runs):,} runs"):
        tables.show(
            _runs(pair, pair.groups),
            "run_metrics",
            key=f"runs-{pair.key}",
        )


def _only_these(pair: Pair) -> None:
    st.session_state[BASE], st.session_state[OTHER] = pair.base, pair.other


def _runs(pair: Pair, groups: ingest.Comparison) -> pd.DataFrame:
    """Return a row for each run: its times, and whether it is the median run of its side."""
    found = {metric.name: metric for metric in groups.metrics}
    sides = []
    for side, name, of_side in ((BASE, "from", groups.base), (OTHER, "to", groups.other)):
        rows = pd.DataFrame({"side": name, "run": of_side.runs})
        for metric, column in SHOWN.items():
            rows[column] = getattr(found[metric], f"{side}_values")
        rows["median"] = ["yes" if run == pair.runs[side] else "" for run in of_side.runs]
        sides.append(rows.sort_values("wall_ns"))
    return pd.concat(sides, ignore_index=True)
