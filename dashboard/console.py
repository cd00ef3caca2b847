"""Page SQL: a read-only console over the tables and views."""

from dataclasses import dataclass

import pandas as pd
import streamlit as st

import ingest
from dashboard import formatting, schema, store, tables

EXAMPLES = {
    "Runs with the most idle time": """\
SELECT run_id, device_name, span_ns / 1e6 AS span_ms, bubble_percent
FROM run_overview
ORDER BY bubble_percent DESC NULLS LAST""",
    "Kernels that took most time, in all runs": """\
SELECT kernel, count(DISTINCT run_id) AS runs, sum(calls) AS calls, sum(device_ns) / 1e6 AS ms
FROM kernel_ranking
WHERE kernel <> 'bubble'
GROUP BY kernel
ORDER BY ms DESC
LIMIT 20""",
    "What the host did in the longest gaps": """\
SELECT run_id, cause, dur_ns / 1e6 AS ms, host_op, host_frame
FROM bubbles
ORDER BY dur_ns DESC
LIMIT 20""",
    "Launches that the device waited for": """\
SELECT run_id, op, count(*) AS launches, median(start_ns - launch_ns) / 1e3 AS median_us
FROM kernels
WHERE launch_ns IS NOT NULL
GROUP BY run_id, op
ORDER BY launches DESC
LIMIT 20""",
    "Files, the damaged and odd ones first": """\
SELECT run_id, path, status, events, dropped, warnings
FROM sources
ORDER BY len(warnings) DESC, run_id""",
    "Instants, flows, counters": """\
SELECT run_id, phase, category, name, count(*) AS events
FROM other_events
GROUP BY ALL
ORDER BY events DESC
LIMIT 20""",
}
FIRST = next(iter(EXAMPLES.values()))
SHOWN_ROWS = 1_000
SHOWN_COLUMNS = 200
SHOWN_CHARACTERS = 4_000_000  # of all cells together; downloads have all of them
LONGEST_CELL = 1_000
LONGEST_HEADING = 60
LONGEST_ERROR = 2_000
EXACT = 2**53  # integers beyond it lose digits in a browser


@dataclass(frozen=True)
class Answer:
    """What became of a query, kept until there is another: other widgets draw the page again."""

    query: str
    store_state: str
    result: ingest.Result | None = None
    shown: pd.DataFrame | None = None
    error: str = ""


def page() -> None:
    """The page."""
    st.title("SQL")
    console = store.console()
    st.caption(
        f"Ask the store anything. Read-only; a query may take {console.seconds:g} s and return "
        f"{console.rows:,} rows or {formatting.size(console.size)}."
    )
    editor, side = st.columns([5, 2], gap="medium")
    with side:
        schema.browser()
    with editor:
        text, again = _editor()
        answer = _answer(console, text, again)
        if answer.result is None or answer.shown is None:
            _say(answer.error)
        else:
            _show(answer.result, answer.shown)


def _editor() -> tuple[str, bool]:
    """The query, and whether it is to be run even if it is the one that ran last."""

    def take_example() -> None:
        if chosen := st.session_state["example"]:
            st.session_state["sql"] = EXAMPLES[chosen]
        st.session_state["example"] = None

    text = st.text_area(
        "Query",
        FIRST,
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


def _answer(console: ingest.Console, text: str, again: bool) -> Answer:
    state = str(st.session_state["store_state"])
    kept: Answer | None = st.session_state.get("answer")
    if kept and not again and (kept.query, kept.store_state) == (text, state):
        return kept
    with st.spinner("Running …", show_time=True):
        try:
            result = console.query(text)
            answer = Answer(text, state, result, _on_screen(result))
        except ingest.QueryError as error:
            answer = Answer(text, state, error=str(error))
        st.session_state["answer"] = answer
    return answer


def _say(error: str) -> None:
    if "\n" in error:  # the database's own words point at a place in the query
        st.error("That is no valid query.", icon=":material/error:")
        st.code(error[:LONGEST_ERROR], language=None, wrap_lines=True)
    else:
        message = formatting.clipped(error, LONGEST_ERROR)
        st.error(formatting.literal(message), icon=":material/block:")


def _show(result: ingest.Result, shown: pd.DataFrame) -> None:
    count, width = result.table.num_rows, result.table.num_columns
    took = formatting.duration(result.seconds * 1e9)
    st.caption(
        f"{count:,} {'row' if count == 1 else 'rows'} in {took}"
        + ("" if result.complete else f"; there are more: a result ends at {result.cut_at}")
        + (f"; the first {SHOWN_ROWS:,} are shown" if count > SHOWN_ROWS else "")
        + (f"; the first {SHOWN_COLUMNS} columns are shown" if width > SHOWN_COLUMNS else "")
    )
    headings = {
        column: st.column_config.Column(formatting.clipped(column, LONGEST_HEADING))
        for column in shown.columns
        if len(column) > LONGEST_HEADING
    }
    st.dataframe(
        shown,
        hide_index=True,
        key="result",
        placeholder="NULL",
        height=tables.height(count),
        column_config=headings,
    )
    with st.container(horizontal=True):
        tables.download_buttons({"csv": result.csv, "parquet": result.parquet}, "query", "result")


def _on_screen(result: ingest.Result) -> pd.DataFrame:
    """The first rows and columns, with the beginning of long texts.

    Integers that a browser cannot hold exactly become text.
    """
    frame = result.part(SHOWN_ROWS, SHOWN_COLUMNS).frame()
    for column in frame.columns:
        values = frame[column]
        if pd.api.types.is_integer_dtype(values) and (values.abs() > EXACT).any():
            frame[column] = values.astype("string")
    return tables.clipped(frame, min(LONGEST_CELL, SHOWN_CHARACTERS // max(1, frame.size)))
