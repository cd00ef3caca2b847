"""The settings that differ between two runs: configuration, versions, environment and tags."""

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.compare import sections
from dashboard.compare.pair import Pair
from dashboard.drawing import formatting, tables
from dashboard.widgets import menu
from ingest.server import Query, Value, select

COLUMNS = "topic, setting, base, other"


def show(pair: Pair) -> None:
    """Show the settings that differ, the number of others, and all settings on request."""
    query = _query(pair, COLUMNS, {"status": "different"})
    queries = {"different": query, "all": _query(pair, "*")}
    menu.heading(
        sections.TITLES[sections.DIFFERENCES],
        queries,
        "setting-diff",
        anchor=sections.DIFFERENCES,
    )
    counts = _counts(pair)
    if counts.get("different"):
        _table(_rows(pair, query), f"different-{pair.key}")
    st.caption(_caption(counts))
    every = st.expander(
        f"All {formatting.counted(sum(counts.values()), 'setting')}",
        key=f"settings-{pair.key}",
        on_change="rerun",
    )
    if every.open:
        with every:
            _table(_rows(pair, _query(pair, f"status, {COLUMNS}")), f"settings-rows-{pair.key}")


def _query(pair: Pair, columns: str, where: dict[str, Value] | None = None) -> Query:
    runs = [pair.base, pair.other]
    return select(columns, "setting_diff", where, arguments=runs, order_by="topic, setting")


def _rows(pair: Pair, query: Query) -> pd.DataFrame:
    """Return the rows of a query over `setting_diff`, which is computed once per pair."""
    return data.rows_of_call(query, "setting_diff", (pair.base, pair.other))


def _counts(pair: Pair) -> dict[str, int]:
    """Return the number of settings of each status."""
    runs = [pair.base, pair.other]
    query = select(
        "status, count(*) AS settings", "setting_diff", arguments=runs, group_by="status"
    )
    frame = _rows(pair, query)
    return dict(zip(frame["status"], frame["settings"].astype(int), strict=True))


def _caption(counts: dict[str, int]) -> str:
    same = counts.get("same", 0)
    text = f"{formatting.counted(same, 'setting')} {'is' if same == 1 else 'are'} the same."
    if not counts.get("different"):
        text = f"No setting is known to differ. {text}"
    if unknown := counts.get("unknown", 0):
        is_known = "is" if unknown == 1 else "are"
        text += f" {formatting.counted(unknown, 'setting')} {is_known} known for only one run."
    return text


def _table(frame: pd.DataFrame, key: str) -> None:
    tables.show(frame, "setting_diff", key=key, labels={"base": "from", "other": "to"})
