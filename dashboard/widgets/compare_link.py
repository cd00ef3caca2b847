"""Links to page Compare."""

from collections.abc import Sequence

import streamlit as st

from dashboard import data
from ingest.server import select


def show(base: str, other: str, label: str) -> None:
    """Show a link to the comparison of two runs."""
    st.page_link(
        st.session_state["pages"]["compare"],
        label=label,
        icon=":material/compare_arrows:",
        query_params={"base": base, "other": other},
    )


def show_by_age(runs: Sequence[str], label: str) -> None:
    """Show a link to the comparison of two runs, with the older one as the base."""
    newest = select("run_id", "run_overview", {"run_id": runs}, order_by=data.LATEST_FIRST)
    other, base = data.rows(newest)["run_id"]
    show(str(base), str(other), label)
