"""The files of the picked runs: what was read from each, and what failed."""

from collections.abc import Sequence

from dashboard import data
from dashboard.drawing import tables
from dashboard.widgets import menu
from ingest.server import select

OTHERS = {  # labels of the trace format's phases, the keys of `sources.other_counts`
    "phase M": "metadata",
    "phase i": "instants",
    "phase I": "instants (older format)",
    "phase s": "flow starts",
    "phase t": "flow steps",
    "phase f": "flow ends",
    "phase C": "counters",
}
EXPLAINED = (
    "The files that each run was read from. Each event in a file is a row of `events` (complete "
    "events, which have a duration), a row of `other_events`, or counted as dropped."
)


def show(runs: Sequence[str]) -> None:
    """Show a table of the files. Its first columns are the status and the warnings."""
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
        warnings=["; ".join(warnings) or None for warnings in frame["warnings"]],
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
    """Return the counts as text, the largest first. Return None if there are none."""
    ordered = sorted((counts or {}).items(), key=lambda entry: -entry[1])
    return ", ".join(f"{n:,} {OTHERS.get(kind, kind)}" for kind, n in ordered) or None
