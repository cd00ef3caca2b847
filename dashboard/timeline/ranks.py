"""The ranks that the trace of page Timeline shows: one, those of a process group, or all."""

from dataclasses import dataclass

import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.widgets import url
from dashboard.widgets.timeline_link import ALL_RANKS, RANKS
from ingest.server import call, select, units

MAX_RANGES = 4  # of ranks that the name of a choice shows


@dataclass(frozen=True)
class Shown:
    """The ranks, none for all, and how far the clock of the picked rank is ahead of theirs, ns.

    Several ranks are on a reference clock, and one is on its own clock.
    """

    ranks: tuple[int, ...]
    ahead_ns: int

    @property
    def are_several(self) -> bool:
        return len(self.ranks) != 1

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """The URL parameters of the trace."""
        return [("rank", str(rank)) for rank in self.ranks]


def pick(run: str, rank: int, at_ns: int) -> Shown:
    """Return the ranks to show. Offer the choice if the run has several.

    `at_ns` is a Unix time on the rank's clock.
    """
    query = select("DISTINCT rank", "sources", {"run_id": run, "complete_events >": 0})
    traced = {int(each) for each in data.rows(query)["rank"]}
    choices = _choices(run, rank, traced)
    if not choices:
        return Shown((rank,), 0)
    asked = st.query_params.get(RANKS)
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
        return Shown((rank,), 0)
    ranks = choices[chosen][1]
    lowest = min(ranks or traced)
    # The trace has the clock at this time on the reference clock.
    at_ns -= _ahead_ns(run, rank, at_ns, lowest)
    return Shown(ranks, _ahead_ns(run, rank, at_ns, lowest))


def _ahead_ns(run: str, rank: int, at_ns: int, lowest: int) -> int:
    """Return how far the clock of a rank is ahead of that of the trace, 0 if that is unknown.

    The trace is on the reference clock of its lowest rank.
    """
    clocks = data.rows(call("*", "clocks_at", [run, at_ns], "rank")).set_index("rank")
    if not {rank, lowest} <= set(clocks.index):
        return 0
    own, other = clocks.loc[rank], clocks.loc[lowest]
    return int(own["ahead_ns"]) if own["reference_rank"] == other["reference_rank"] else 0


def _choices(run: str, rank: int, traced: set[int]) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return the choices besides a single rank, by their value in the URL: a name and ranks."""
    if len(traced) < 2:
        return {}
    choices: dict[str, tuple[str, tuple[int, ...]]] = {
        ALL_RANKS: (f"All {len(traced):,} ranks", ())
    }
    query = select(
        "process_group_id, coalesce(description, name) AS name, member_ranks",
        "process_groups",
        {"run_id": run},
        order_by="process_group_id",
    )
    for group in data.rows(query).itertuples():
        if formatting.missing(group.member_ranks):
            continue
        members = tuple(sorted(traced.intersection(map(int, group.member_ranks))))
        if rank in members and 1 < len(members) < len(traced):
            ranges = units.number_ranges(members, MAX_RANGES)
            choices[str(group.process_group_id)] = (f"{group.name}: ranks {ranges}", members)
    return choices
