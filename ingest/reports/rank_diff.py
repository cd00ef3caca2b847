"""What `ingest diff` and page Compare say about the ranks of two runs."""

from collections.abc import Sequence
from typing import Any

from ingest.reports.query import select
from ingest.reports.section import Section
from ingest.units import amount, change, number_ranges, percent_change, rank_name

Row = dict[str, Any]

# The times of a rank beside its wall time, with their names.
TIMES = {
    "compute": "compute",
    "waiting": "waiting",
    "transfer": "transfer",
    "exposed_communication": "exposed",
    "lateness": "lateness",
}


def section(base: str, other: str) -> Section:
    """Return the ranks of two runs: both worst ranks, then those that changed most.

    Without several ranks in both runs, it has no rows.
    """
    return Section(
        f"Ranks of {base} and {other}",
        "rank_diff",
        select("*", "rank_diff", arguments=[base, other], order_by="ordinal"),
        (base, other),
        note="The wall time is that of the median step. Other times are means over the steps: "
        "waiting and transfer in matched collectives, exposed communication while nothing "
        "computes, and how much later than the first rank it came to collectives. Ranks whose wall "
        "time without waiting changed most are first.",
    )


def of_both(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of ranks that both runs have."""
    return [
        row
        for row in rows
        if row["pairing"] == "rank" and None not in (row["base_rank"], row["other_rank"])
    ]


def sentences(rows: Sequence[Row], names: tuple[str, str] = ("BASE", "OTHER")) -> list[str]:
    """Compare both worst ranks, name ranks that only one run has, and say where waits are bounds.

    `names` are the names of the runs.
    """
    found = [_worst(row, names) for row in rows if row["pairing"] == "worst"]
    for side, lacking, name in (("base", "other", names[0]), ("other", "base", names[1])):
        alone = sorted(row[f"{side}_rank"] for row in rows if row[f"{lacking}_rank"] is None)
        if alone:
            noun = "rank" if len(alone) == 1 else "ranks"
            found.append(f"Only in {name}: {noun} {number_ranges(alone)}.")
        if any(row[f"{side}_is_bound"] for row in rows):
            found.append(
                f"Waits in {name} are lower bounds, because a missing rank may have come last."
            )
    return found


def _worst(row: Row, names: tuple[str, str]) -> str:
    ranks = " against ".join(
        f"{rank_name(row[f'{side}_rank'], row[f'{side}_reason'])} "
        f"({amount(row[f'{side}_wall_ns'], 'ns')} in {name})"
        for side, name in zip(("base", "other"), names, strict=True)
    )
    if row["change_wall_ns"] is None:
        return f"Worst against worst: {ranks}."
    changed = _signed(row["change_wall_ns"])
    if row["change_percent"] is not None:
        changed += f" ({percent_change(row['change_percent'])})"
    times = [
        f"{label} {_signed(row[f'change_{time}_ns'])}"
        for time, label in TIMES.items()
        if row[f"change_{time}_ns"] is not None
    ]
    return f"Worst against worst: {ranks}: {', '.join([changed, *times])}."


def _signed(ns: int) -> str:
    return change(ns, lambda value: amount(value, "ns"))
