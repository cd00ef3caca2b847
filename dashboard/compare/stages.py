"""The pipeline stages of two runs, and their changes."""

from dashboard import data
from dashboard.compare import sections
from dashboard.compare.pair import Pair
from dashboard.drawing import colours, tables
from dashboard.widgets import menu, stages
from ingest.server import Query, select

EXPLAINED = (
    "The pipeline call with the median time of each run. The changes of stages add up to the "
    "change of the call, and the changes of blocks to the change of their stage."
)


def has_rows(pair: Pair) -> bool:
    """Return whether both runs have pipeline calls."""
    return not data.rows(_query(pair)).empty


def show(pair: Pair) -> None:
    """Show the stages of both runs and their changes, if both have stages."""
    query = _query(pair)
    frame = data.rows(query)
    if frame.empty:
        return
    title = sections.TITLES[sections.STAGES]
    menu.heading(title, {"stages": query}, "stages", help=EXPLAINED, anchor=sections.STAGES)
    rows = stages.labelled(frame).rename(columns={"percent": "change_percent"})
    tables.show(
        rows,
        "stage_diff",
        key=f"stages-{pair.key}",
        labels={
            "base_ns": "from",
            "other_ns": "to",
            "change_percent": "change, %",
            "base_idle_ns": "idle from",
            "other_idle_ns": "idle to",
            "base_peak_bytes": "peak memory from",
            "other_peak_bytes": "peak memory to",
        },
        bars=["change_ns"],
        colours=[colours.NEUTRAL] * len(frame),
    )


def _query(pair: Pair) -> Query:
    return select(
        "level, stage, block_class, base_ns, other_ns, change_ns, percent, base_idle_ns, "
        "other_idle_ns, base_peak_bytes, other_peak_bytes",
        "stage_diff",
        arguments=pair.of_rank,
        order_by="ordinal, level DESC, greatest(base_ns, other_ns) DESC",
    )
