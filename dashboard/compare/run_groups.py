"""The selectors of page Compare: a run, or a group of runs as in `ingest diff`."""

import streamlit as st

import ingest
from dashboard import data
from dashboard.drawing import formatting
from ingest.server import Query

MAX_NAMED = 3

GROUPS = Query(
    "SELECT selector FROM run_groups WHERE kind IN ('model', 'tag') "
    "GROUP BY selector HAVING count(*) > 1 ORDER BY selector"
)


def offered() -> list[str]:
    """Return the selectors of models and tags that several runs have."""
    return [str(selector) for selector in data.rows(GROUPS)["selector"]]


def is_known(selector: str) -> bool:
    """Return whether a selector matches runs. Warn if it does not."""
    try:
        return bool(data.runs_of(selector))
    except ingest.IngestError:
        name = formatting.literal(formatting.clipped(selector, 120))
        if ":" in selector:
            text = f"No run in this store matches **{name}**. Pick another group, or a run."
        else:
            text = (
                f"There is no run **{name}** in this store. It was removed, or the link belongs to "
                "another store."
            )
        st.warning(text, icon=":material/search_off:")
        return False


def are_apart(base: list[str], other: list[str]) -> bool:
    """Return whether no run is on both sides. Show a notice if some are."""
    both = sorted({*base} & {*other})
    if not both:
        return True
    if base == other:
        subject = "run" if len(base) == 1 else f"{len(base)} runs"
        text = f"Both sides are the same {subject}. Pick another."
    else:
        named = ", ".join(f"**{formatting.literal(run)}**" for run in both[:MAX_NAMED])
        more = f" and {len(both) - MAX_NAMED:,} more" if len(both) > MAX_NAMED else ""
        is_both = "is" if len(both) == 1 else "are"
        text = f"{named}{more} {is_both} on both sides. Pick sides that share no run."
    st.info(text, icon=":material/arrow_upward:")
    return False


def describe(selector: str, runs: list[str]) -> str:
    """Return the number of runs of a group as a text, or an empty text for a run."""
    if runs == [selector]:
        return ""
    name = f"**{formatting.literal(selector)}**"
    if len(runs) == 1:
        return f"{name}: one run, **{formatting.literal(runs[0])}**"
    return f"{name}: {len(runs):,} runs"
