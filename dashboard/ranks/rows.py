"""The rows of the matrix of ranks: a row for each rank, or for several ranks of a large run."""

from collections.abc import Mapping

import pandas as pd

from dashboard.drawing import formatting
from ingest.server import units

MOST = 64  # rows; larger runs have a row for each host, group, or range of ranks
LATENESS, RANK, HOST, GROUP = "lateness", "rank", "host", "group"


def orders(frame: pd.DataFrame, groups: pd.DataFrame) -> dict[str, str]:
    """Return the possible orders of rows, with their meanings."""
    found = {} if frame["lateness_ns"].isna().all() else {LATENESS: "the latest first"}
    found[RANK] = "by number"
    if frame["host_name"].nunique() > 1:
        found[HOST] = "by host, then by number"
    if set(groups_of(groups, len(frame)).values()):
        found[GROUP] = "by process group, then by number"
    return found


def groups_of(groups: pd.DataFrame, ranks: int) -> dict[int, str]:
    """Return the smallest process group of each rank by name, without the group of all ranks."""
    found: dict[int, str] = {}
    for row in groups.sort_values(["group_size", "process_group_id"]).itertuples():
        if formatting.missing(row.member_ranks) or row.group_size >= ranks:
            continue
        for rank in row.member_ranks:
            found.setdefault(int(rank), f"group {row.name}")
    return found


def of_order(frame: pd.DataFrame, order: str, groups: Mapping[int, str]) -> pd.DataFrame:
    """Return the rows of ranks with the `row` of the matrix to which each belongs, in its order.

    `frame` has the latest rank first.
    """
    frame = frame.assign(row=_labels(frame, order, groups))
    if order == RANK:
        return frame.sort_values(["rank", "device"])
    if order in (HOST, GROUP):
        return frame.sort_values(["row", "rank", "device"], key=_natural)
    return frame  # rows appear in the order of their latest rank


def _labels(frame: pd.DataFrame, order: str, groups: Mapping[int, str]) -> list[str]:
    hosts = ["no host" if formatting.missing(host) else str(host) for host in frame["host_name"]]
    named = [groups.get(rank, "no group") for rank in frame["rank"]]
    if len(frame) <= MOST:
        before = {HOST: hosts, GROUP: named}.get(order)
        return [
            f"{first} · {label}" if first else label
            for first, label in zip(before or [""] * len(frame), frame["label"], strict=True)
        ]
    if order == GROUP and len(set(named)) <= MOST:
        return named
    if order != RANK and 1 < len(set(hosts)) <= MOST:
        return hosts
    return _ranges(list(frame["rank"]))


def _ranges(ranks: list[int]) -> list[str]:
    """Return the range of ranks to which each belongs, so that there are up to `MOST`."""
    known = sorted(set(ranks))
    width = -(-len(known) // MOST)
    label = {}
    for first in range(0, len(known), width):
        members = known[first : first + width]
        label.update(dict.fromkeys(members, f"ranks {units.number_ranges(members, 2)}"))
    return [label[rank] for rank in ranks]


def _natural(values: pd.Series) -> pd.Series:
    """Return sort keys in which `node10` follows `node9`."""
    if values.name != "row":
        return values
    return values.str.replace(r"\d+", lambda found: found[0].zfill(12), regex=True)


def farthest(rows: pd.DataFrame, column: str, middle: float) -> pd.DataFrame:
    """Return, for each row of the matrix, the rank whose value is farthest from the middle.

    Of lateness, it is the latest rank.
    """
    known = rows[rows[column].notna()]
    values = known[column].astype(float)
    apart = values if column == "lateness_ns" else (values - middle).abs()
    by_row = known.assign(apart=apart).sort_values("apart", ascending=False, kind="stable")
    return by_row.drop_duplicates("row")
