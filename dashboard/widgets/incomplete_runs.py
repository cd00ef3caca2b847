"""Notices about runs whose files failed or ended early. Missing events look like idle time."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from ingest.server import reports, select

MAX_NAMED = 3


def warn(runs: Sequence[str]) -> None:
    """Show one warning for all of the runs, with a link to their files, if any are incomplete."""
    if text := warning(runs):
        st.warning(text, icon=":material/running_with_errors:")
        st.page_link(
            st.session_state["pages"]["runs"],
            label="Show the files on page Runs",
            icon=":material/list:",
        )


def warning(runs: Sequence[str]) -> str:
    """Return a text about incomplete runs and the effect on their metrics, or an empty text."""
    damaged = data.rows(reports.runs.damaged(runs))
    with_device = damaged["devices"] > 0
    consequences = {
        "missing events look like idle time": damaged[with_device],
        "no device activity was read": damaged[~with_device],
    }
    return "  \n".join(
        f"{_files(affected)} ended early or failed: {consequence}."
        for consequence, affected in consequences.items()
        if not affected.empty
    )


def no_device(runs: Sequence[str]) -> str:
    """Return the reason why the runs show no device."""
    if data.rows(reports.runs.damaged(runs)).empty:
        return "There is no device in this profile."
    return "No device activity was read."


def stop_without_trace(runs: Sequence[str]) -> None:
    """Show a notice and stop a page about time if the runs have no trace."""
    if data.rows(
        select("run_id", "sources", {"run_id": runs, "complete_events >=": 0}, limit=1)
    ).empty:
        _stop_without_profile(runs)
        st.info(
            "There is no trace here. The page Memory shows what was recorded.",
            icon=":material/memory_alt:",
        )
        st.page_link(
            st.session_state["pages"]["memory"],
            label="Open Memory",
            icon=":material/memory_alt:",
            query_params=[("run", run) for run in runs],
        )
        st.stop()


def _stop_without_profile(runs: Sequence[str]) -> None:
    """Show the error and stop the page if the runs failed before anything was recorded."""
    profiles = select("1", "sources", {"run_id": runs, "kind <>": "run_json"}, limit=1)
    if not data.rows(profiles).empty:
        return
    failed = select("run_id, run_json ->> '$.error' AS error", "runs", {"run_id": runs})
    for run in data.rows(failed).itertuples():
        st.error(
            f"**{formatting.literal(str(run.run_id))}** failed before anything was recorded: "
            f"{formatting.literal(str(run.error))}",
            icon=":material/error:",
        )
    st.stop()


def no_activity(run: str) -> None:
    """Show a notice on a page about time, for a run without operators and kernels."""
    stop_without_trace([run])
    st.info("No activity was recorded in this run.", icon=":material/search_off:")


def _files(damaged: pd.DataFrame) -> str:
    """Return a text with the number of files of each run."""
    named = [
        f"{formatting.counted(row.problems, 'file')} of **{formatting.literal(row.run_id)}**"
        for row in damaged.head(MAX_NAMED).itertuples()
    ]
    if len(damaged) > MAX_NAMED:
        others = formatting.counted(len(damaged) - MAX_NAMED, "other run")
        named.append(f"files of {others}")
    return " and ".join(filter(None, [", ".join(named[:-1]), *named[-1:]]))
