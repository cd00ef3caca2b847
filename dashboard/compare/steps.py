"""One step of each of two runs, and what ran in it, with times relative to its start."""

import math
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.compare.pair import Pair
from dashboard.drawing import formatting
from ingest.server import Query, Scalar, call, select

MAX_CHOICES = 200
BINS = 240
MAX_WORK_ITEMS = 1_000


@dataclass(frozen=True)
class Step:
    """A step of a run on a device, or on the host."""

    run: str
    rank: int
    device: int | None
    on_device: bool
    number: int | None
    start_ns: int
    length_ns: int
    label: str

    def occupancy(self, since: int, until: int) -> Query:
        """Return the query for occupancy from `since` to `until`, but not after the step's end.

        Both are in ns since the start of the step.
        """
        columns = "start_ns, end_ns, part, part_ns, percent"
        bin_ns = max(1, math.ceil((until - since) / BINS))  # the same for both runs
        bins = min(BINS, max(1, math.ceil((self.length_ns - since) / bin_ns)))
        start = self.start_ns + since
        time_range = [start, start + bins * bin_ns, bins]
        if self.on_device:
            arguments: list[Scalar] = [self.run, self.rank, self.device, *time_range]
            return call(columns, "device_occupancy", arguments, "start_ns, part")
        return call(columns, "host_occupancy", [self.run, self.rank, *time_range], "start_ns")

    def work_items(self, columns: str, since: int, until: int, **more: Any) -> Query:
        """Return the query for the step's device activities or operators in a time range."""
        where: dict[str, Scalar] = {"run_id": self.run, "rank": self.rank}
        where |= (
            {"measure": "device", "device": self.device} if self.on_device else {"measure": "host"}
        )
        if self.number is not None:
            where["step"] = self.number
        end = min(until, self.length_ns)
        where |= {"start_ns <": self.start_ns + end, "end_ns >": self.start_ns + since}
        return select(columns, "work_item_timeline", where, **more)


def of_pair(pair: Pair) -> Pair:
    """Return the pair with the picked step. Show a picker only if both runs have several steps."""
    most = _found(pair).groupby("side")["ordinal"].max()
    if len(most) < 2 or most.min() < 2:
        return pair
    numbers = range(1, min(int(most.min()), MAX_CHOICES) + 1)
    choices = {"median step of each": None} | {f"step {nth} of each": nth for nth in numbers}
    chosen = st.selectbox(
        "Step",
        list(choices),
        key="steps",
        bind="query-params",
        width=190,
        label_visibility="collapsed",
    )
    return replace(pair, nth_step=choices[str(chosen)])


def compared(pair: Pair) -> dict[str, Step]:
    """Return the compared step of each side."""
    frame = _found(pair)
    most = frame.groupby("side")["ordinal"].max()
    is_shown = frame["ordinal"] == pair.nth_step if pair.nth_step else frame["is_median"]
    return {row.side: _step(row, int(most[row.side])) for row in frame[is_shown].itertuples()}


def _found(pair: Pair) -> pd.DataFrame:
    return data.rows(
        select("*", "compared_steps", arguments=pair.of_rank, order_by="side, ordinal")
    )


def _step(row: Any, steps: int) -> Step:
    at = pd.Series(row._asdict())
    number = None if formatting.missing(at["step"]) else int(at["step"])
    named = "whole recording"
    if number is not None:
        named = f"step {number:,} ({int(at['ordinal'])} of {steps} measured)"
    on_device = at["measure"] == "device"
    return Step(
        run=str(at["run_id"]),
        rank=int(at["rank"]),
        device=None if not on_device or formatting.missing(at["device"]) else int(at["device"]),
        on_device=on_device,
        number=number,
        start_ns=int(at["work_start_ns"]),
        length_ns=int(at["work_end_ns"]) - int(at["work_start_ns"]),
        label=f"{named}, {formatting.duration(int(at['wall_ns']))}",
    )
