"""The files of the picked runs: what was read from each, and what failed."""

from collections.abc import Sequence

from dashboard import data
from dashboard.drawing import tables
from dashboard.widgets import menu
from ingest.server import reports

OTHERS = {  # labels of the trace format's phases, the keys of `sources.other_counts`
    "phase M": "metadata",
    "phase i": "instants",
    "phase I": "instants (older format)",
    "phase s": "flow starts",
    "phase t": "flow steps",
    "phase f": "flow ends",
    "phase C": "counters",
}


def show(runs: Sequence[str]) -> None:
    """Show a table of the files. Its first columns are the status and the warnings."""
    section = reports.runs.files(runs)
    menu.heading(section.title, {"files": section.query}, "files", help=section.note)
    frame = data.rows(section.query)
    frame = frame.assign(
        warnings=["; ".join(warnings) or None for warnings in frame["warnings"]],
        other_counts=[_counts(counts) for counts in frame["other_counts"]],
        dropped_counts=[_counts(counts) for counts in frame["dropped_counts"]],
    )
    empty = [column for column in frame.columns if frame[column].isna().all()]
    tables.show(
        frame,
        section.view,
        key="sources",
        hidden=[*empty, "warning_codes", "cycle", *(["run_id"] if len(runs) == 1 else [])],
        labels=section.labels,
    )


def _counts(counts: dict[str, int] | None) -> str | None:
    """Return the counts as text, the largest first. Return None if there are none."""
    ordered = sorted((counts or {}).items(), key=lambda entry: -entry[1])
    return ", ".join(f"{n:,} {OTHERS.get(kind, kind)}" for kind, n in ordered) or None
