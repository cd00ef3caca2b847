"""The largest allocations as bands of a memory curve: their colours and tooltips."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pandas as pd

import ingest
from dashboard import data
from dashboard.drawing import colours, formatting
from dashboard.memory import stack_frames
from dashboard.memory.chart import Bands
from dashboard.memory.single_bands import Singles
from ingest.server import DeviceMemory, Query, Value, select

LEVEL = "allocation"  # a level that `memory_owners` does not have
MAX_ALLOCATIONS = 64
BINS = 160  # fewer bins than for owners, because each bin has a cell for each allocation
WHITE_SHARE = 0.35  # share of white in every second band of a colour
NAME_WIDTH = 90  # maximum characters of a line in tooltips


def query(device: DeviceMemory, axis: str, since: int, until: int, bins: int) -> Query:
    """Return the query for the largest allocations' bytes over time, and the sum of all others."""
    return select(
        "position, ordinal, time_ns, allocation_id, allocation_ordinal, bytes, below_bytes",
        "memory_by_allocation_over_time",
        arguments=[*device.arguments, axis, since, until, bins, MAX_ALLOCATIONS],
        order_by="ordinal, allocation_ordinal",
    )


def details(device: DeviceMemory, level: str, rows: pd.DataFrame) -> pd.DataFrame:
    """Return details and the owner at a level for each allocation in rows of `query`.

    They are in the order of allocation.
    """
    ids = [int(each) for each in rows["allocation_id"].dropna().unique()]
    where: dict[str, Value] = {**device.where(), "allocation_id": ids}
    made = select(
        f"allocation_id, bytes, alloc_ns - {ingest.literal(device.first_ns)} AS after_ns, "
        "free_ns - alloc_ns AS dur_ns, alloc_ordinal, free_ordinal, stack_id",
        "memory_allocations",
        where,
    )
    owned = select("allocation_id, name, is_known", "memory_owners", {**where, "level": level})
    return data.rows(
        select(
            "*",
            "made INNER JOIN owned USING (allocation_id)",
            given={"made": made, "owned": owned},
            order_by="alloc_ordinal NULLS FIRST, allocation_id",
        )
    )


def owners(found: pd.DataFrame) -> dict[str, bool]:
    """Return whether each owner with a colour of its own is known.

    These are the largest known owners, and all unknown ones.
    """
    sums = found.groupby(["name", "is_known"], as_index=False)["bytes"].sum()
    sums = sums.sort_values(["bytes", "name"], ascending=[False, True])
    shown = pd.concat([sums[sums["is_known"]].head(len(colours.OWNERS)), sums[~sums["is_known"]]])
    return dict(zip(shown["name"], shown["is_known"].astype(bool), strict=True))


def bands(
    device: DeviceMemory,
    title: str,
    rows: pd.DataFrame,
    found: pd.DataFrame,
    colour_of: Mapping[str, str],
) -> Bands:
    """Return bands for the rows of `query`, in the colours of their owners.

    `title` is the tooltip's title for the owner.
    """
    others = rows["allocation_id"].isna()
    whole = rows[others].assign(name=None, bytes=rows["bytes"] + rows["below_bytes"])
    about = pd.DataFrame(
        {"allocation_id": found["allocation_id"], "colour": _colours(found, colour_of)}
    )
    short = formatting.short_paths(colour_of, NAME_WIDTH)
    legend = {short[name]: colour for name, colour in colour_of.items()}
    legend["all others"] = colours.OTHERS
    singles = Singles(rows[~others], about.join(_texts(device, title, found)))
    return Bands(whole, {}, colours.OTHERS, legend, singles)


def _colours(found: pd.DataFrame, colour_of: Mapping[str, str]) -> list[str]:
    """Return the colour of each allocation's owner.

    Every second allocation of an owner is lighter, so that neighbours can be distinguished.
    """
    seen: Counter[str] = Counter()
    result = []
    for name in found["name"]:
        colour = colour_of.get(name, colours.OTHERS)
        result.append(_lighter(colour) if seen[colour] % 2 else colour)
        seen[colour] += 1
    return result


def _lighter(colour: str) -> str:
    parts = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return "#" + "".join(f"{round(part + WHITE_SHARE * (255 - part)):02X}" for part in parts)


def _texts(device: DeviceMemory, title: str, found: pd.DataFrame) -> pd.DataFrame:
    texts = pd.DataFrame(
        {
            "size": found["bytes"].map(formatting.size),
            "lived": [life(row) for row in found.itertuples()],
            "allocated": [_allocated(row) for row in found.itertuples()],
            title: [formatting.clipped(name, NAME_WIDTH) for name in found["name"]],
        }
    )
    lines_of = stack_frames.innermost(device.run_id, found["stack_id"].dropna().unique())
    stacks = [lines_of.get(each, ["not recorded"]) for each in found["stack_id"]]
    for depth in range(max(map(len, stacks), default=0)):
        blank = " " * depth  # titles must differ
        texts[blank or "stack"] = [stack[depth] if depth < len(stack) else "" for stack in stacks]
    return texts


def _allocated(row: Any) -> str:
    if formatting.missing(row.alloc_ordinal):
        return "before the recording"
    action = f"at action {row.alloc_ordinal:,.0f}"
    if formatting.missing(row.after_ns):
        return action
    return f"{action}, {formatting.duration(row.after_ns)} after the first"


def life(row: Any) -> str:
    """Return how long an allocation lived, or a text if its start or end was not recorded."""
    if not formatting.missing(row.dur_ns):
        return formatting.duration(row.dur_ns)
    if formatting.missing(row.free_ordinal):
        return "to the end"
    return "from before" if formatting.missing(row.after_ns) else formatting.NONE
