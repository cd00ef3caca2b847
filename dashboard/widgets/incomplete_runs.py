"""What pages say of runs whose files failed or ended early: what is missing looks like idleness."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.drawing import formatting
from dashboard.query import select

MOST_NAMED = 3


def warn(runs: Sequence[str]) -> None:
    """One warning for all of the runs, and the way to the files; nothing where all are whole."""
    if said := warning(runs):
        st.warning(said, icon=":material/running_with_errors:")
        st.page_link(
            st.session_state["pages"]["runs"],
            label="Their files, on page Runs",
            icon=":material/list:",
        )


def warning(runs: Sequence[str]) -> str:
    """Which of the runs are damaged, and what that does to their figures; else empty."""
    damaged = _damaged(runs)
    with_device = damaged["devices"] > 0
    consequences = {
        "what is missing looks like idle time": damaged[with_device],
        "no device activity was read": damaged[~with_device],
    }
    return "  \n".join(
        f"{_files(those)} ended early or failed: {consequence}."
        for consequence, those in consequences.items()
        if not those.empty
    )


def no_device(runs: Sequence[str]) -> str:
    """Why there is nothing to say of a device, for runs that show none."""
    if _damaged(runs).empty:
        return "There is no device in this profile."
    return "No device activity was read."


def stop_without_trace(runs: Sequence[str]) -> None:
    """Ends a page about time with a word where the runs hold no trace."""
    if data.rows(
        select("run_id", "sources", {"run_id": runs, "complete_events >=": 0}, limit=1)
    ).empty:
        _stop_without_profile(runs)
        st.info(
            "There is no trace here: the page Memory shows what was recorded.",
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
    """Ends a page with the reason where the runs failed before anything was recorded."""
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
    """Says so on a page about time, for a run without an operator or a kernel."""
    stop_without_trace([run])
    st.info("No activity was recorded in this run.", icon=":material/search_off:")


def _damaged(runs: Sequence[str]) -> pd.DataFrame:
    return data.rows(
        select(
            "run_id, problems, devices",
            "run_overview",
            {"run_id": runs, "problems >": 0},
            order_by="run_id",
        )
    )


def _files(damaged: pd.DataFrame) -> str:
    """How many files of which runs."""
    named = [
        f"{formatting.counted(row.problems, 'file')} of **{formatting.literal(row.run_id)}**"
        for row in damaged.head(MOST_NAMED).itertuples()
    ]
    if len(damaged) > MOST_NAMED:
        others = formatting.counted(len(damaged) - MOST_NAMED, "other run")
        named.append(f"files of {others}")
    return " and ".join(filter(None, [", ".join(named[:-1]), *named[-1:]]))
