"""The menu of a chart or table: its SQL, its rows as files, and a link to the page as it is."""

from collections.abc import Callable, Mapping
from typing import Any, Literal
from urllib.parse import urlencode

import streamlit as st

from dashboard import data
from dashboard.query import Query

LONGEST_LINK = 6_000  # characters of a query that browsers and proxies carry in an address
TALL = 1_500  # characters of a query that scrolls


def heading(
    title: str,
    queries: Mapping[str, Query],
    name: str,
    help: str | None = None,
    anchor: str | Literal[False] = False,
) -> None:
    """The heading of a chart or table, with its menu at its right."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(title, anchor=anchor, width="content", help=help)
        show(queries, name)


def show(queries: Mapping[str, Query], name: str) -> None:
    """The menu alone. `queries`: what each is of; `name`: of the files, without an extension."""
    with st.popover(
        ":material/more_horiz:",
        type="tertiary",
        help="SQL, CSV, Parquet, and a link to this page",
        key=f"menu-{name}",
    ):
        tabs = st.tabs(list(queries)) if len(queries) > 1 else [st.container()]
        for tab, (what, query) in zip(tabs, queries.items(), strict=True):
            with tab:
                _query(query, f"{name}-{what}" if len(queries) > 1 else name)
        if link := _link():
            st.caption("Link to this page as it is")
            st.code(link, language=None)


def _query(query: Query, name: str) -> None:
    text = query.inlined()
    st.code(text, language="sql", wrap_lines=True, height=280 if len(text) > TALL else "content")
    fetch = data.later(query)
    with st.container(horizontal=True, vertical_alignment="center"):
        if len(text) <= LONGEST_LINK:
            st.page_link(
                st.session_state["pages"]["sql"],
                label="Open in the console",
                icon=":material/terminal:",
                query_params={"sql": text},
            )
        downloads(
            {
                "csv": lambda: fetch().to_csv(index=False).encode(),
                "parquet": lambda: fetch().to_parquet(index=False),
            },
            name,
        )


def downloads(formats: Mapping[str, Callable[[], Any]], name: str) -> None:
    """A button for each format; the file is made when it is asked for."""
    for extension, make in formats.items():
        st.download_button(
            extension.upper() if extension == "csv" else extension.capitalize(),
            make,
            file_name=f"{name}.{extension}",
            key=f"{name}.{extension}",
            icon=":material/download:",
            on_click="ignore",
            type="tertiary",
        )


def _link() -> str | None:
    """The address of the page with all that is selected."""
    if not st.context.url:
        return None
    asked = {key: st.query_params.get_all(key) for key in st.query_params}
    return f"{st.context.url.partition('?')[0]}?{urlencode(asked, doseq=True)}"
