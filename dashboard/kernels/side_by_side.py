"""Kernels of several runs, side by side."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import colours, tables
from dashboard.widgets import compare_link, incomplete_runs, menu, url
from ingest.server import reports

MAX_RUNS = len(colours.RUNS)
MAX_ROWS = 2_000
DIFFERENCE = "change_ns"


def page(picked: Sequence[str]) -> None:
    """Draw calls and time of each run. With two runs, the largest differences come first."""
    runs = list(picked[:MAX_RUNS])
    if len(picked) > MAX_RUNS:
        st.warning(f"Only the first {MAX_RUNS} of {len(picked)} runs are shown.")
    incomplete_runs.stop_without_trace(runs)
    search = url.search("filter by name")
    section = reports.kernels.over_all(runs, search=search)
    frame = data.rows(section.query)
    if frame.empty:
        none = "No kernel contains this text. Clear the search."
        text = none if search else f"{incomplete_runs.no_device(runs)} Kernels run on devices only."
        st.info(text, icon=":material/search_off:" if search else ":material/memory:")
        return
    if len(runs) == 2:
        compare_link.show_by_age(runs, "What changed between them, and why")
    wide = side_by_side(frame, runs)
    name = f"kernels-of-{len(runs)}-runs"
    menu.heading(section.title, {"kernels": section.query}, name)
    tables.show(
        wide.head(MAX_ROWS),
        section.view,
        key="kernels-side-by-side",
        labels={
            **{f"{run}_ns": run for run in runs},
            **{f"{run} calls": f"calls of {run}" for run in runs},
            DIFFERENCE: "difference",
        },
    )
    notes = ["The time of each kernel in the median step, summed over the devices of a run."]
    if len(runs) == 2:
        notes.append("The difference is the second run minus the first.")
    if len(wide) > MAX_ROWS:
        notes.append(f"The first {MAX_ROWS:,} of {len(wide):,} rows. The menu has all of them.")
    st.caption(" ".join(notes))


def side_by_side(frame: pd.DataFrame, runs: Sequence[str]) -> pd.DataFrame:
    """Return a row for each kernel, with the time and the calls of each run."""
    order = list(dict.fromkeys(frame["kernel"]))
    columns = {}
    for values, suffix in (("device_ns", "_ns"), ("calls", " calls")):
        wide = frame.pivot(index="kernel", columns="run_id", values=values).astype("Int64")
        wide = wide.reindex(index=order, columns=list(runs))
        columns.update({f"{run}{suffix}": wide[run] for run in runs})
    ordered = {f"{run}{suffix}": columns[f"{run}{suffix}"]
               for run in runs for suffix in ("_ns", " calls")}  # fmt: skip
    found = pd.DataFrame(ordered)
    if len(runs) == 2:
        first, second = (found[f"{run}_ns"].fillna(0) for run in runs)
        found[DIFFERENCE] = second - first
        found = found.iloc[found[DIFFERENCE].abs().argsort(kind="stable")[::-1]]
    return found.reset_index(names="kernel")
