"""The ranks that the trace of page Timeline shows: one, those of a process group, or all."""

from dataclasses import dataclass

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.widgets import run_picker, url
from dashboard.widgets.timeline_link import ALL_RANKS, RANKS
from ingest.server import reports, select, units

MAX_RANGES = 4  # of ranks that the name of a choice shows


@dataclass(frozen=True)
class Shown:
    """The ranks, and how far the clock of the picked rank is ahead of that of the trace, ns.

    `are_all` tells whether the run has no other ranks to show.
    """

    ranks: tuple[int, ...]
    ahead_ns: int = 0
    are_all: bool = False

    @property
    def are_several(self) -> bool:
        return len(self.ranks) > 1

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """The URL parameters of the trace."""
        return [] if self.are_all else [("rank", str(rank)) for rank in self.ranks]


def pick(run: str, rank: int, at_ns: int) -> Shown:
    """Return the ranks to show. Offer the choice if the run has several.

    `at_ns` is a Unix time on the rank's clock.
    """
    query = select("DISTINCT rank", "sources", {"run_id": run, "complete_events >": 0})
    traced = {int(each) for each in data.rows(query)["rank"]}
    groups = _groups(run, rank, traced)
    choices = _choices(groups, traced)
    asked = st.query_params.get(RANKS)
    if asked in groups and asked not in choices:
        asked = ALL_RANKS
    elif asked not in (None, ALL_RANKS, *choices):
        run_picker.not_here(
            f"process group {asked} with rank {rank} and others", f"only rank {rank}"
        )
    if not choices:
        url.remember(RANKS, None)
        return Shown((rank,))
    chosen = st.selectbox(
        "Ranks",
        [None, *choices],
        index=1 + list(choices).index(asked) if asked in choices else 0,
        format_func=lambda choice: choices[choice][0] if choice else f"Only rank {rank:,}",
        label_visibility="collapsed",
        width=300,
    )
    url.remember(RANKS, chosen)
    if chosen is None:
        return Shown((rank,))
    ranks = choices[chosen][1]
    # The trace has the clock at this time on its own clock.
    at_ns -= _ahead_ns(run, ranks, rank, at_ns)
    return Shown(ranks, _ahead_ns(run, ranks, rank, at_ns), chosen == ALL_RANKS)


def _ahead_ns(run: str, ranks: tuple[int, ...], rank: int, at_ns: int) -> int:
    """Return how far the clock of a rank is ahead of that of a trace, 0 if that is unknown."""
    clocks = data.rows(reports.trace_clocks.of_ranks(run, ranks, at_ns))
    ahead = clocks.loc[clocks["rank"] == rank, "ahead_ns"].dropna()
    return int(ahead.iloc[0]) if len(ahead) else 0


def _choices(
    groups: dict[str, tuple[str, tuple[int, ...]]], traced: set[int]
) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return the choices besides a single rank, by their value in the URL: a name and ranks.

    A process group of all ranks is no choice of its own.
    """
    if len(traced) < 2:
        return {}
    choices = {ALL_RANKS: (f"All {len(traced):,} ranks", tuple(sorted(traced)))}
    for group, (name, members) in groups.items():
        if len(members) < len(traced):
            ranges = units.number_ranges(members, MAX_RANGES)
            choices[group] = (f"{name}: ranks {ranges}", members)
    return choices


def _groups(run: str, rank: int, traced: set[int]) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return the name and the traced ranks of each process group of this rank and others."""
    query = select(
        "process_group_id, coalesce(description, name) AS name, member_ranks",
        "process_groups",
        {"run_id": run},
        order_by="process_group_id",
    )
    groups = {}
    for group in data.rows(query).itertuples():
        if formatting.missing(group.member_ranks):
            continue
        members = tuple(sorted(traced.intersection(map(int, group.member_ranks))))
        if rank in members and len(members) > 1:
            groups[str(group.process_group_id)] = (str(group.name), members)
    return groups
