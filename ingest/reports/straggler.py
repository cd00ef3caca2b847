"""The straggler of a run, in sentences."""

from typing import Any

from ingest.reports.rank_views import UNMATCHED
from ingest.units import counted, duration, percent

Row = dict[str, Any]

LEAST_PERCENT = 10  # of the straggler's cost that a cause explains
MAX_CAUSES = 3  # of a level
NO_COLLECTIVES = "No collectives were recorded, so nothing says which rank makes others wait."
UNKNOWN = "The straggler is unknown: "
NO_MATCH = f"{UNKNOWN}no collective is matched across ranks."
NO_CLOCKS = f"{UNKNOWN}the clocks of the ranks are, because too few collectives are matched."
NOT_MEASURED = f"{UNKNOWN}no collective of a process group is in the measured steps."
NO_STRAGGLER = "No rank is a straggler: none is late by more than chance explains."
LEVELS = {"part": "Part {} of its time", "op": "Its operator {}", "kernel": "Its kernel {}"}


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
    found = next((row for row in late if row["is_straggler"]), None)
    if found is not None:
        return [_answer(found), *_causes(causes, _whole(found)), *unmatched]
    if late:
        return [NO_STRAGGLER, *unmatched]
    if all(row["unmatched_reason"] for row in matching):
        return [NO_MATCH, *unmatched]
    if not any(row["timed_calls"] for row in matching):
        return [NO_CLOCKS, *unmatched]
    return [NOT_MEASURED, *unmatched]


def _whole(found: Row) -> str:
    return "in the recording" if found["steps"] is None else "in a step"


def _answer(found: Row) -> str:
    return (
        f"Rank {found['rank']} is the straggler: it comes last in "
        f"{percent(found['last_percent'])} of {counted(found['collectives'], 'collective')}, "
        f"{duration(found['late_ns'])} after the next rank in the median. That costs "
        f"{duration(found['cost_ns'])} {_whole(found)}."
    )


def _causes(causes: list[Row], whole: str) -> list[str]:
    levels: dict[str, list[Row]] = {}
    for row in causes:
        if row["cost_percent"] is not None and row["cost_percent"] >= LEAST_PERCENT:
            levels.setdefault(row["level"], []).append(row)
    return [_cause(row, whole) for rows in levels.values() for row in rows[:MAX_CAUSES]]


def _cause(row: Row, whole: str) -> str:
    longer = (
        f"{LEVELS[row['level']].format(row['name'])} takes {duration(row['own_ns'])} {whole}, "
        f"{duration(row['excess_ns'])} longer than in the other ranks"
    )
    if row["is_slower"] is None:
        return f"{longer}."
    calls, others = (f"{row[name]:,.4g}" for name in ("step_calls", "other_step_calls"))
    if row["is_slower"]:
        return f"{longer}, with as many calls ({calls})."
    return f"{longer}, with {calls} calls instead of {others}."
