"""Page SQL: a read-only console over the tables and views."""

import zlib
from dataclasses import dataclass

import pandas as pd
import streamlit as st

import ingest
from dashboard import data
from dashboard.drawing import formatting
from dashboard.sql import results, schema
from dashboard.widgets.view import View
from ingest import server

EXAMPLES = {
    "Runs with the most idle time": """\
SELECT run_id, device_name, span_ns / 1e6 AS span_ms, idle_percent
FROM run_overview
ORDER BY idle_percent DESC NULLS LAST""",
    "Kernels with the most time, in all runs": """\
SELECT name, count(DISTINCT run_id) AS runs, sum(calls) AS calls, sum(device_ns) / 1e6 AS ms
FROM kernel_ranking
WHERE name <> 'bubble'
GROUP BY name
ORDER BY ms DESC
LIMIT 20""",
    "What the host did in the longest gaps": """\
SELECT run_id, cause, dur_ns / 1e6 AS ms, host_op, host_frame
FROM measured_bubbles
ORDER BY dur_ns DESC
LIMIT 20""",
    "Launches that the device waited for": """\
SELECT run_id, host_op, count(*) AS gaps, sum(dur_ns) / 1e6 AS lost_ms,
    median(launch_delay_ns) / 1e3 AS median_delay_us
FROM bubbles
WHERE cause = 'host'
GROUP BY run_id, host_op
ORDER BY lost_ms DESC
LIMIT 20""",
    "Files, damaged ones and those with warnings first": """\
SELECT status, warnings, dropped_counts, run_id, path
FROM sources
ORDER BY status IN ('failed', 'truncated') DESC, len(warnings) DESC, run_id, path""",
    "Instants, flows, counters": """\
SELECT run_id, phase, category, name, count(*) AS events
FROM other_events
GROUP BY ALL
ORDER BY events DESC
LIMIT 20""",
}
FIRST = next(iter(EXAMPLES.values()))
MAX_CHARACTERS = 2_000  # maximum characters of an error message


@dataclass(frozen=True)
class Answer:
    """The result or the error of a query.

    It is kept until the next query, because every use of another widget draws the page again.
    """

    query: str
    store_state: str
    result: server.Result | None = None
    shown: pd.DataFrame | None = None
    error: str = ""

    @property
    def key(self) -> str:
        """The key of widgets whose state belongs to this query."""
        return f"{zlib.crc32(self.query.encode()):08x}"


def page(view: View) -> None:
    """Draw the page."""
    sandbox = data.sandbox()
    st.caption(
        f"Queries are read-only. A query can take up to {sandbox.seconds:g} s and return up to "
        f"{sandbox.rows:,} rows or {formatting.size(sandbox.size)}."
    )
    editor, side = st.columns([5, 2], gap="medium")
    with side:
        schema.browser()
    with editor:
        text, again = _editor()
        answer = _answer(sandbox, text, again)
        if answer.result is None or answer.shown is None:
            _show_error(answer.error)
        else:
            results.show(answer.result, answer.shown, answer.key)


def _editor() -> tuple[str, bool]:
    """Return the query, and whether to run it even if it was the last one to run."""

    def take_example() -> None:
        if chosen := st.session_state["example"]:
            st.session_state["sql"] = EXAMPLES[chosen]
        st.session_state["example"] = None

    if "sql" not in st.session_state and "sql" not in st.query_params:
        st.session_state["sql"] = FIRST
    text = st.text_area(
        "Query",
        key="sql",
        bind="query-params",
        height=190,
        label_visibility="collapsed",
        placeholder="SELECT … FROM op_ranking WHERE …",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        again = st.button(
            "Run", type="primary", icon=":material/play_arrow:", help="Or Ctrl+Enter."
        )
        st.selectbox(
            "Examples",
            list(EXAMPLES),
            index=None,
            key="example",
            on_change=take_example,
            placeholder="Examples",
            label_visibility="collapsed",
            width=320,
        )
    return text or "", again


def _answer(sandbox: server.Sandbox, text: str, again: bool) -> Answer:
    state = str(st.session_state["store_state"])
    kept: Answer | None = st.session_state.get("answer")
    if kept and not again and (kept.query, kept.store_state) == (text, state):
        return kept
    with st.spinner("Running …", show_time=True):
        try:
            result = sandbox.query(text)
            answer = Answer(text, state, result, results.on_screen(result))
        except ingest.QueryError as error:
            answer = Answer(text, state, error=str(error))
        st.session_state["answer"] = answer
    return answer


def _show_error(error: str) -> None:
    if "\n" in error:  # a database error, which points to a position in the query
        st.error("The query is not valid.", icon=":material/error:")
        st.code(error[:MAX_CHARACTERS], language=None, wrap_lines=True)
    else:
        message = formatting.clipped(error, MAX_CHARACTERS)
        st.error(formatting.literal(message), icon=":material/block:")
