"""Groups of runs on page Compare: medians, how sure they are, and the runs that stand for them."""

import math

import pandas as pd
import streamlit as st

import ingest
from dashboard import data
from dashboard.compare.pair import BASE, OTHER, Pair
from dashboard.drawing import formatting, tables
from dashboard.query import Query, select

TOO_FEW = "too few runs to tell"
NEARLY = 1e-9  # of the wall time: less is rounding
SHOWN = ("wall", "busy", "bubble")


def metrics(pair: Pair) -> pd.DataFrame:
    """The metrics of both sides by name: of groups medians, with spreads and the rank test's p."""
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
    """The query of the same metrics."""
    return _pair_query(pair) if pair.groups is None else Query(pair.groups.sql)


def in_parts(pair: Pair, frame: pd.DataFrame) -> tuple[pd.DataFrame, bool]:
    """Metrics whose parts add up to the wall times, and whether they are those given.

    Medians of parts need not add up to the median of the whole: then those of the median runs.
    """
    if pair.groups is None or all(_adds_up(frame, side) for side in (BASE, OTHER)):
        return frame, True
    return _of_two_runs(pair), False


def _adds_up(frame: pd.DataFrame, side: str) -> bool:
    wall = float(frame.loc["wall", side])
    parts = float(frame[side][frame["is_part"]].sum())
    return math.isclose(parts, wall, rel_tol=NEARLY, abs_tol=1e-3)


def _of_two_runs(pair: Pair) -> pd.DataFrame:
    return data.rows(_pair_query(pair)).set_index("metric")


def _pair_query(pair: Pair) -> Query:
    columns = "metric, unit, base, other, change, percent, is_part, ordinal"
    macro, arguments = "run_diff", pair.of_rank
    if pair.nth_step:
        macro, arguments = "step_diff", [pair.base, pair.other, pair.nth_step, pair.rank]
    return select(columns, macro, arguments=arguments, order_by="ordinal")


def rank_test(groups: ingest.Comparison, p: float | None) -> str:
    """What the rank test says of a metric."""
    if p is None or formatting.missing(p):
        return formatting.NONE
    return TOO_FEW if groups.has_too_few else f"p = {p:.2g}"


def how_sure(groups: ingest.Comparison, wall: pd.Series) -> str:
    """The same in the answer, with what it means."""
    said = rank_test(groups, wall["p"])
    if said == TOO_FEW:
        return f"{said} it from chance"
    if not said.startswith("p"):
        return "no rank test"
    meaning = "would seldom" if wall["is_significant"] else "may well"
    return f"{said}: chance alone {meaning} rank the runs so"


def spread(groups: ingest.Comparison, wall: pd.Series, side: str) -> str:
    """What a median is of, and how far the runs are from it."""
    runs = len((groups.base if side == BASE else groups.other).runs)
    if runs == 1:
        return "one run"
    return f"median of {runs:,} runs, ± {formatting.duration(wall[f'{side}_spread'])}"


def introduce(pair: Pair) -> None:
    """Which runs all that follows is about, and the way to them; and each run's times."""
    if pair.groups is None:
        return
    st.subheader("The median runs", anchor=False)
    st.caption(
        "From here on, each side's run with the median wall time stands for it: operators, "
        "timelines and compilations are those of two runs."
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
            labels={"bubble_ns": "bubble"},
        )


def _only_these(pair: Pair) -> None:
    st.session_state[BASE], st.session_state[OTHER] = pair.base, pair.other


def _runs(pair: Pair, groups: ingest.Comparison) -> pd.DataFrame:
    """A row a run: its times, and whether it stands for its side."""
    found = {metric.name: metric for metric in groups.metrics}
    sides = []
    for side, name, of_side in ((BASE, "from", groups.base), (OTHER, "to", groups.other)):
        rows = pd.DataFrame({"side": name, "run": of_side.runs})
        for metric in SHOWN:
            rows[f"{metric}_ns"] = getattr(found[metric], f"{side}_values")
        rows["median"] = ["yes" if run == pair.runs[side] else "" for run in of_side.runs]
        sides.append(rows.sort_values("wall_ns"))
    return pd.concat(sides, ignore_index=True)
