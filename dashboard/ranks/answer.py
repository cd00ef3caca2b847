"""The first lines of page Ranks: which rank is the straggler, or why none is named."""

from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.widgets.view import View
from ingest.server import Scalar, reports, units

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
        named = units.number_ranges(found.missing, MAX_NAMED)
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
    late, matching = records(found.late), records(found.matching)
    headline, figures = reports.straggler.answer(late, matching)
    if found.straggler is not None and (wall_ns := frame["wall_ns"].median()):
        share = formatting.percent(100 * late[0]["cost_ns"] / wall_ns)
        whole = "the recording" if late[0]["steps"] is None else "the step"
        figures = f"{figures} That is {share} of {whole}."
    return f"**{headline}** {figures}"


def _unmatched(found: Answer) -> str:
    """Return why calls are unmatched, or an empty text."""
    if len(found.clocks) < 2:
        return ""
    return " ".join(reports.straggler.unmatched(records(found.matching)))


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as a report's function takes them, with None for null."""
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]


def _of(part: int, whole: Scalar) -> str:
    return f"{part:,}" if whole in (None, part) else f"{part:,} of {whole:,}"
