"""The straggler of a run, in sentences."""

from typing import Any

from ingest.reports.rank_views import UNMATCHED
from ingest.units import counted, duration, percent

Row = dict[str, Any]

LEAST_PERCENT = 10  # of the straggler's cost that a cause explains
MAX_CAUSES = 3  # of a level
NO_COLLECTIVES = "No collectives were recorded, so nothing says which rank makes others wait."
NO_MATCH = "The straggler is unknown: no collective is matched across ranks."
NO_STRAGGLER = "No rank is a straggler: none is late by more than chance explains."


def straggler_sentences(late: list[Row], causes: list[Row], matching: list[Row]) -> list[str]:
    """Return which rank makes others wait, why, and why collectives are unmatched.

    The arguments are rows of `stragglers`, `straggler_causes`, and `rank_views.matching`.
    """
    if not matching:
        return [NO_COLLECTIVES]
    unmatched = [
        f"Unmatched: {counted(row['calls'], 'call')}, because {UNMATCHED[row['unmatched_reason']]}."
        for row in matching
        if row["unmatched_reason"]
    ]
    if not late:
        return [NO_MATCH, *unmatched]
    found = next((row for row in late if row["is_straggler"]), None)
    if found is None:
        return [NO_STRAGGLER, *unmatched]
    answer = (
        f"Rank {found['rank']} is the straggler: it comes last in "
        f"{percent(found['last_percent'])} of {counted(found['collectives'], 'collective')}, "
        f"{duration(found['late_ns'])} after the next rank in the median. That costs "
        f"{duration(found['cost_ns'])} in a step."
    )
    return [answer, *_causes(causes), *unmatched]


def _causes(causes: list[Row]) -> list[str]:
    levels: dict[str, list[Row]] = {}
    for row in causes:
        if row["cost_percent"] is not None and row["cost_percent"] >= LEAST_PERCENT:
            levels.setdefault(row["level"], []).append(row)
    return [_cause(row) for rows in levels.values() for row in rows[:MAX_CAUSES]]


def _cause(row: Row) -> str:
    longer = (
        f"Its {row['level']} {row['name']} takes {duration(row['own_ns'])} in a step, "
        f"{duration(row['excess_ns'])} longer than in the other ranks"
    )
    if row["is_slower"] is None:
        return f"{longer}."
    calls, others = (f"{row[name]:,.4g}" for name in ("step_calls", "other_step_calls"))
    if row["is_slower"]:
        return f"{longer}, with as many calls ({calls})."
    return f"{longer}, with {calls} calls instead of {others}."
