"""The straggler of a run, in sentences."""

from typing import Any

from ingest.reports.rank_views import UNMATCHED
from ingest.units import counted, duration, percent

Row = dict[str, Any]

LEAST_PERCENT = 10  # of the straggler's cost that a cause explains
MAX_CAUSES = 3  # of a level
UNKNOWN = "The straggler is unknown:"
NO_COLLECTIVES = "No collectives were recorded, so nothing says which rank makes others wait."
NO_MATCH = f"{UNKNOWN} no collective is matched across ranks."
NO_CLOCKS = f"{UNKNOWN} the clocks of the ranks are, because too few collectives are matched."
NOT_MEASURED = f"{UNKNOWN} no collective of a process group is in the measured steps."
NO_STRAGGLER = "No rank is a straggler."
WITHIN_NOISE = (
    "Ranks come to collectives within the spread of their ends and the uncertainty of the clocks."
)
LEVELS = {"part": "Part {} of its time", "op": "Its operator {}", "kernel": "Its kernel {}"}


def straggler_sentences(late: list[Row], causes: list[Row], matching: list[Row]) -> list[str]:
    """Return which rank makes others wait, why, and why collectives are unmatched.

    The arguments are rows of `stragglers`, `straggler_causes`, and `rank_views.matching`.
    """
    answered = " ".join(filter(None, answer(late, matching)))
    reasons = [_whole(row) for row in late if row["is_straggler"]]
    found = [sentence for whole in reasons for sentence in _causes(causes, whole)]
    return [answered, *found, *unmatched(matching)]


def answer(late: list[Row], matching: list[Row]) -> tuple[str, str]:
    """Return which rank makes others wait, or why that is unknown: the answer, and its figures.

    The arguments are rows of `stragglers`, those that cost the most first, and of
    `rank_views.matching`.
    """
    if not matching:
        return NO_COLLECTIVES, ""
    if late:
        return _of_latest(late[0])
    if all(row["unmatched_reason"] for row in matching):
        return NO_MATCH, ""
    return NOT_MEASURED if any(row["timed_calls"] for row in matching) else NO_CLOCKS, ""


def unmatched(matching: list[Row]) -> list[str]:
    """Return why collectives are unmatched, from rows of `rank_views.matching`."""
    return [
        f"Unmatched: {counted(row['calls'], 'call')}, because {UNMATCHED[row['unmatched_reason']]}."
        for row in matching
        if row["unmatched_reason"]
    ]


def _of_latest(row: Row) -> tuple[str, str]:
    if not row["last_collectives"]:
        return NO_STRAGGLER, WITHIN_NOISE
    last = (
        f"comes last in {percent(row['last_percent'])} of its "
        f"{counted(row['collectives'], 'collective')}, {duration(row['late_ns'])} after the next "
        f"rank in the median. That costs {duration(row['cost_ns'])} {_whole(row)}"
    )
    if row["is_straggler"]:
        return f"Rank {row['rank']} is the straggler.", f"It {last}."
    return NO_STRAGGLER, f"Rank {row['rank']} costs the most: it {last}, which may be chance."


def _whole(found: Row) -> str:
    return "in the recording" if found["steps"] is None else "in a step"


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
