"""Two runs by the stages of their pipelines."""

from dashboard import data
from dashboard.compare import sections
from dashboard.compare.pair import Pair
from dashboard.drawing import colours, tables
from dashboard.query import Query, select
from dashboard.widgets import menu, stages

EXPLAINED = (
    "Of each run the pipeline's call of median time. The changes of the stages add up to that of "
    "the call, and those of blocks to their stage."
)


def has_rows(pair: Pair) -> bool:
    """Whether both runs have calls of pipelines."""
    return not data.rows(_query(pair)).empty


def show(pair: Pair) -> None:
    """The stages of both and their changes; nothing where a run has none."""
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
