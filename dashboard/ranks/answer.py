"""The answer of page Ranks: the straggler, or why there is none."""

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.ranks import numbers
from dashboard.widgets.view import View
from ingest.server import Scalar, reports

MAX_NAMED = 12  # ranges of missing ranks
CLOCK_HELP = (
    "How far the clocks of ranks differ from the clock of the lowest rank, computed from the ends "
    "of matched collectives, and the largest uncertainty. Starts are compared on that clock."
)


@dataclass(frozen=True)
class Answer:
    """What is known about the collectives of a run.

    late        rows of `stragglers`, those that cost the most first
    matching    number of calls by the reason why they are unmatched
    clocks      rows of `rank_clocks`: the ranks with a file
    groups      rows of `process_groups`
    world_size  number of ranks of the job, or None
    """

    late: pd.DataFrame
    matching: pd.DataFrame
    clocks: pd.DataFrame
    groups: pd.DataFrame
    world_size: int | None

    @property
    def straggler(self) -> int | None:
        """The rank that is the straggler, or None."""
        return next((int(rank) for rank in self.late["rank"][self.late["is_straggler"]]), None)

    @property
    def matched(self) -> int:
        """The number of matched calls of all ranks."""
        return int(self.matching["calls"][self.matching["unmatched_reason"].isna()].sum())

    @property
    def missing(self) -> list[int]:
        """The ranks of the job, or of a group, without a file."""
        known = {int(rank) for rank in self.clocks["rank"]}
        expected = set(range(self.world_size or 0))
        for ranks in self.groups["missing_ranks"]:
            if not formatting.missing(ranks):
                expected |= {int(rank) for rank in ranks}
        return sorted(expected - known)


def of_run(run: str) -> Answer:
    """Return what is known about the collectives of a run."""
    views = reports.rank_views
    (job,) = data.rows(views.job(run)).itertuples()
    return Answer(
        late=data.rows(views.stragglers(run)),
        matching=data.rows(views.matching(run)),
        clocks=data.rows(views.clocks(run).query),
        groups=data.rows(views.groups(run).query),
        world_size=None if formatting.missing(job.world_size) else int(job.world_size),
    )


def show(view: View, found: Answer, frame: pd.DataFrame) -> None:
    """Show the answer in a sentence, the figures behind it, and the correction of the clocks."""
    st.markdown(sentence(found, frame))
    if not view.steps.is_whole:
        st.caption(
            "This is about the whole recording. The times of ranks below are of "
            f"{view.steps.label}."
        )
    if found.missing:
        waits = " Waits are lower bounds, because a missing rank may have come last."
        named = numbers.ranges(found.missing, MAX_NAMED)
        is_bound = found.matched and found.matching["has_bounds"].any()
        st.warning(
            f"{formatting.counted(len(found.missing), 'rank')} without a file: {named}."
            f"{waits if is_bound else ''}",
            icon=":material/group_off:",
        )
    with st.container(horizontal=True):
        st.metric("Ranks", _of(len(found.clocks), found.world_size))
        calls = int(found.matching["calls"].sum())
        if calls:
            st.metric(
                "Matched calls",
                _of(found.matched, calls),
                help="Collectives and point-to-point calls of all ranks whose call on another rank "
                "is known.",
            )
        if found.straggler is not None:
            row = found.late.iloc[0]
            st.metric("Comes last", formatting.percent(row["last_percent"]))
            st.metric("Later than the next", formatting.duration(row["late_ns"]))
            per_step = "" if frame["latest_step"].isna().all() else " per step"
            st.metric(f"Costs{per_step}", formatting.duration(row["cost_ns"]))
        correction = _correction(found.clocks)
        if correction and not found.late.empty:
            st.metric("Clocks corrected by", correction, help=CLOCK_HELP)
    if note := _unmatched(found):
        st.caption(note)


def correction(clocks: pd.DataFrame) -> str:
    """Return by how much times are corrected, with the largest uncertainty, as a sentence."""
    amount = _correction(clocks)
    return f"Times are corrected by up to {amount}." if amount else ""


def _correction(clocks: pd.DataFrame) -> str:
    """Return the largest offset of a clock with the largest uncertainty, or an empty text."""
    others = clocks[~clocks["is_reference"].astype(bool) & clocks["offset_ns"].notna()]
    if others.empty:
        return ""
    offset = formatting.duration(others["offset_ns"].abs().max())
    uncertainty = others["uncertainty_ns"].max()
    known = "?" if formatting.missing(uncertainty) else formatting.duration(uncertainty)
    return f"{offset} ± {known}"


def sentence(found: Answer, frame: pd.DataFrame) -> str:
    """Return the answer, or why it cannot be given."""
    if len(found.clocks) < 2:
        return "**The run has files of one rank, so nothing says which rank makes others wait.**"
    if found.matching.empty:
        return "**No collectives were recorded, so nothing says which rank makes others wait.**"
    if not found.matched:
        return "**The straggler is unknown: no collective is matched across ranks.**"
    if found.late.empty:
        return (
            "**The straggler is unknown: the clocks of the ranks are, because too few collectives "
            "are matched.**"
        )
    whole = "the recording" if frame["latest_step"].isna().all() else "a step"
    first = found.late.iloc[0]
    if found.straggler is not None:
        wall = frame["wall_ns"].median()
        share = formatting.percent(100 * first["cost_ns"] / wall) if wall else ""
        return (
            f"**Rank {int(first['rank'])} is the straggler.** It comes last in "
            f"{formatting.percent(first['last_percent'])} of its "
            f"{formatting.counted(int(first['collectives']), 'collective')}, "
            f"{formatting.duration(first['late_ns'])} after the next rank in the median. Without "
            f"that, {whole} could take {formatting.duration(first['cost_ns'])} less"
            f"{f', {share} of it' if share else ''}."
        )
    if not first["last_collectives"]:
        return (
            "**No rank is a straggler.** Ranks come to collectives within the spread of their ends "
            "and the uncertainty of the clocks."
        )
    return (
        f"**No rank is a straggler.** Rank {int(first['rank'])} costs the most: it comes last in "
        f"{formatting.percent(first['last_percent'])} of its "
        f"{formatting.counted(int(first['collectives']), 'collective')}, which costs "
        f"{formatting.duration(first['cost_ns'])} of {whole}. That may be chance."
    )


def _unmatched(found: Answer) -> str:
    """Return why calls are unmatched, or an empty text."""
    rows = found.matching[found.matching["unmatched_reason"].notna()]
    if rows.empty or len(found.clocks) < 2:
        return ""
    reasons = [
        f"{formatting.counted(int(row.calls), 'call')}: "
        f"{reports.rank_views.UNMATCHED.get(row.unmatched_reason, row.unmatched_reason)}"
        for row in rows.itertuples()
    ]
    return f"Unmatched: {'; '.join(reasons)}."


def _of(part: int, whole: Scalar) -> str:
    return f"{part:,}" if whole in (None, part) else f"{part:,} of {whole:,}"
