"""Page SQL: a read-only console over the tables and views."""

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
    "Files that are damaged or odd": """\
SELECT run_id, path, status, events, dropped, warnings
FROM sources
WHERE len(warnings) > 0""",
    "Instants, flows, counters": """\
SELECT run_id, phase, category, name, count(*) AS events
FROM other_events
GROUP BY ALL
ORDER BY events DESC
LIMIT 20""",
}
FIRST = next(iter(EXAMPLES.values()))
SHOWN_ROWS = 1_000
EXACT = 2**53  # integers beyond it lose digits in a browser


def page() -> None:
    """The page."""
    st.title("SQL")
    console = store.console()
    st.caption(
        f"Ask the store anything. Read-only; a query may take {console.seconds:g} s and return "
        f"{console.rows:,} rows."
    )
    editor, side = st.columns([5, 2], gap="medium")
    with side:
        schema.browser()
    with editor:
        text = _editor()
        _answer(console, text)


def _editor() -> str:
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
        st.button("Run", type="primary", icon=":material/play_arrow:", help="Or Ctrl+Enter.")
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
    return text or ""


def _answer(console: ingest.Console, text: str) -> None:
    try:
        with st.spinner("Running …", show_time=True):
            result = console.query(text)
    except ingest.QueryError as error:
        message = str(error)
        if "\n" in message:  # the database's own words point at a place in the query
            st.error("That is no valid query.", icon=":material/error:")
            st.code(message, language=None, wrap_lines=True)
        else:
            st.error(formatting.literal(message), icon=":material/block:")
        return
    count = result.table.num_rows
    took = formatting.duration(result.seconds * 1e9)
    st.caption(
        f"{count:,} {'row' if count == 1 else 'rows'} in {took}"
        + ("" if result.complete else f"; there are more: these are the first {count:,}")
        + (f"; the first {SHOWN_ROWS:,} are shown" if count > SHOWN_ROWS else "")
    )
    shown = _exact(result.frame().head(SHOWN_ROWS))
    st.dataframe(
        shown, hide_index=True, key="result", placeholder="NULL", height=tables.height(count)
    )
    with st.container(horizontal=True):
        tables.download_buttons({"csv": result.csv, "parquet": result.parquet}, "query", "result")


def _exact(frame: pd.DataFrame) -> pd.DataFrame:
    """Integers that a browser cannot hold exactly become text."""
    for column in frame.columns:
        values = frame[column]
        if pd.api.types.is_integer_dtype(values) and (values.abs() > EXACT).any():
            frame[column] = values.astype("string")
    return frame
