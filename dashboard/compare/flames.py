"""The difference of two runs as a flame graph of calls that took more or less."""

import streamlit as st

from dashboard import data
from dashboard.compare import sections
from dashboard.compare.pair import BASE, OTHER, Pair
from dashboard.widgets import flame_graph, menu, url
from dashboard.widgets.flame_graph import SEARCH, Metric
from ingest.server import Query, select

METRICS = (
    Metric("self_device_ns", "device time"),
    Metric("self_ns", "host time"),
    Metric("self_idle_ns", "idle ended"),
)
HELP = (
    "The calls of one step of each run, from Python frames down to kernels. Calls match if their "
    "names and the names of their callers are equal, ignoring lines and addresses."
)


@st.fragment
def show(pair: Pair) -> None:
    """Draw the graph when the user opens it."""
    heading = menu.heading_line(sections.TITLES[sections.CALLS], sections.CALLS, HELP)
    opened = st.expander(
        "Flame graph of the difference", on_change="rerun", key="flames", bind="query-params"
    )
    if not opened.open:
        return
    with opened:
        sums = ", ".join(
            f"greatest(sum(base_{each.column}), sum(other_{each.column})) AS {each.column}"
            for each in METRICS
        )
        (most,) = (
            data.rows(select(sums, "compared_calls", arguments=pair.arguments))
            .fillna(0)
            .to_dict("records")
        )
        metrics = {each.label: each for each in METRICS if most[each.column] > 0}
        if not metrics:
            st.caption("No calls were recorded in these steps.")
            return
        with st.container(horizontal=True, vertical_alignment="bottom"):
            metric = flame_graph.pick(metrics)
            search = url.search("find a name", SEARCH)
        flame_graph.show(
            _calls(pair, metric.column),
            metric.column,
            search,
            heading,
            name="difference",
            files=f"{pair.base}-{pair.other}",
            runs=(pair.names[BASE], pair.names[OTHER]),
        )


def _calls(pair: Pair, column: str) -> Query:
    return select(
        f"id, caller_id, name, category, other_{column} AS value, "
        f"coalesce(base_{column}, 0) AS base_value",
        "compared_calls",
        arguments=pair.arguments,
    )
