"""The files of the picked runs: what was read of each, and what could not be."""

from collections.abc import Sequence

from dashboard import data
from dashboard.drawing import tables
from dashboard.query import select
from dashboard.widgets import menu

OTHERS = {  # phases of the trace format, as `sources.other_counts` counts them, in words
    "phase M": "metadata",
    "phase i": "instants",
    "phase I": "instants (older format)",
    "phase s": "flow starts",
    "phase t": "flow steps",
    "phase f": "flow ends",
    "phase C": "counters",
}
EXPLAINED = (
    "What each run was read from. Every event in a file is a row of `events` (complete events, "
    "which took time) or of `other_events`, or counted as dropped."
)


def show(runs: Sequence[str]) -> None:
    """A table of the files, what went wrong first."""
    query = select(
        "parse_filename(path) AS file, status, warnings, run_id, kind, rank, bytes, events, "
        "complete_events, other_counts, dropped_counts, path",
        "sources",
        {"run_id": runs},
        order_by="run_id, source_id",
    )
    menu.heading("Files", {"files": query}, "files", help=EXPLAINED)
    frame = data.rows(query)
    frame = frame.assign(
        warnings=["; ".join(said) or None for said in frame["warnings"]],
        other_counts=[_counts(counts) for counts in frame["other_counts"]],
        dropped_counts=[_counts(counts) for counts in frame["dropped_counts"]],
    )
    empty = [column for column in frame.columns if frame[column].isna().all()]
    tables.show(
        frame,
        "sources",
        key="sources",
        hidden=[*empty, *(["run_id"] if len(runs) == 1 else [])],
        labels={
            "run_id": "run",
            "bytes": "size",
            "events": "events in file",
            "other_counts": "other events",
            "dropped_counts": "dropped",
        },
    )


def _counts(counts: dict[str, int] | None) -> str | None:
    """What there is of each, the most first; None where there is nothing."""
    ordered = sorted((counts or {}).items(), key=lambda entry: -entry[1])
    return ", ".join(f"{n:,} {OTHERS.get(what, what)}" for what, n in ordered) or None
