"""The menu of a chart or table: its SQL, its rows as files, and a link to the page."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal

import streamlit as st

from dashboard import data
from dashboard.drawing import component
from ingest.server import Query

MAX_LINK_LENGTH = 6_000  # characters of a query that browsers and proxies accept in a URL
SCROLL_LENGTH = 1_500  # characters of a query; the box of a longer one scrolls
# Browsers let a page write to the clipboard only over HTTPS or on localhost.
LINK = """export default function ({ parentElement }) {
    const button = parentElement.querySelector("button");
    button.onclick = async () => {
        try {
            await navigator.clipboard.writeText(location.href);
            button.textContent = "Copied";
        } catch {
            prompt("The link to this page", location.href);
        }
    };
}"""
LINK_STYLE = """.link { font: inherit; padding: 0; border: 0; background: none; cursor: pointer;
    color: var(--st-link-color); }"""


def heading(
    title: str,
    queries: Mapping[str, Query],
    name: str,
    help: str | None = None,
    anchor: str | Literal[False] = False,
    files: str = "",
) -> None:
    """Show the heading of a chart or table, with its menu to the right."""
    with heading_line(title, anchor, help):
        show(queries, name, files)


def heading_line(title: str, anchor: str | Literal[False] = False, help: str | None = None) -> Any:
    """Show the heading of a chart or table. Return the container to the right for its menu."""
    line = st.container(horizontal=True, vertical_alignment="center", gap="small")
    line.subheader(title, anchor=anchor, width="content", help=help)
    return line


def show(queries: Mapping[str, Query], name: str, files: str = "") -> None:
    """Show the menu for queries by title.

    `name` is the file name of downloads without an extension, and `files` is its prefix.
    """
    with st.popover(
        ":material/more_horiz:",
        type="tertiary",
        help="SQL, CSV, Parquet, and a link to this page",
        key=f"menu-{name}",
    ):
        tabs = st.tabs(list(queries)) if len(queries) > 1 else [st.container()]
        for tab, (what, query) in zip(tabs, queries.items(), strict=True):
            with tab:
                _query(query, f"{name}-{what}" if len(queries) > 1 else name, files)
        _link().draw(f"link-{name}")


def _query(query: Query, name: str, files: str) -> None:
    text = query.inlined()
    st.code(
        text,
        language="sql",
        wrap_lines=True,
        height=280 if len(text) > SCROLL_LENGTH else "content",
    )
    fetch = data.later(query)
    with st.container(horizontal=True, vertical_alignment="center"):
        if len(text) <= MAX_LINK_LENGTH:
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
            files,
        )


def downloads(formats: Mapping[str, Callable[[], Any]], name: str, files: str = "") -> None:
    """Show a button for each format. A click on it creates the file."""
    for extension, make in formats.items():
        st.download_button(
            extension.upper() if extension == "csv" else extension.capitalize(),
            make,
            file_name=f"{files}-{name}.{extension}" if files else f"{name}.{extension}",
            key=f"{name}.{extension}",
            icon=":material/download:",
            on_click="ignore",
            type="tertiary",
        )


@cache
def _link() -> component.Component:
    """Return the component of a button that copies the page's current URL."""
    button = '<button type="button" class="link">Copy the link to this page</button>'
    return component.define("link", button, LINK, LINK_STYLE)
