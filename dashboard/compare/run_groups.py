"""What a side of page Compare may be: a run, or a group of runs as `ingest diff` names them."""

import streamlit as st

import ingest
from dashboard import data
from dashboard.drawing import formatting
from dashboard.query import Query

MOST_NAMED = 3

GROUPS = Query(
    "SELECT selector FROM run_groups WHERE kind IN ('model', 'tag') "
    "GROUP BY selector HAVING count(*) > 1 ORDER BY selector"
)


def offered() -> list[str]:
    """Each model and each tag that several runs have."""
    return [str(selector) for selector in data.rows(GROUPS)["selector"]]


def is_known(selector: str) -> bool:
    """Whether a side's selector names runs; a warning where it does not."""
    try:
        return bool(data.runs_of(selector))
    except ingest.IngestError:
        name = formatting.literal(formatting.clipped(selector, 120))
        if ":" in selector:
            said = f"No run in this store has **{name}**: pick another group, or a run."
        else:
            said = (
                f"There is no run **{name}** in this store: it was removed, or the link is of "
                "another store."
            )
        st.warning(said, icon=":material/search_off:")
        return False


def are_apart(base: list[str], other: list[str]) -> bool:
    """Whether no run is on both sides; says so where some are."""
    both = sorted({*base} & {*other})
    if not both:
        return True
    if base == other:
        what = "run" if len(base) == 1 else f"{len(base)} runs"
        said = f"Both are the same {what}: pick another."
    else:
        named = ", ".join(f"**{formatting.literal(run)}**" for run in both[:MOST_NAMED])
        more = f" and {len(both) - MOST_NAMED:,} more" if len(both) > MOST_NAMED else ""
        is_both = "is" if len(both) == 1 else "are"
        said = (
            f"{named}{more} {is_both} on both sides, and a run does not differ from itself: pick "
            "sides that share none."
        )
    st.info(said, icon=":material/arrow_upward:")
    return False


def describe(selector: str, runs: list[str]) -> str:
    """How many runs a group is; empty for a run."""
    if runs == [selector]:
        return ""
    name = f"**{formatting.literal(selector)}**"
    if len(runs) == 1:
        return f"{name}: one run, **{formatting.literal(runs[0])}**"
    return f"{name}: {len(runs):,} runs"
