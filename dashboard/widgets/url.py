"""Choices that the URL of a page contains, so that a link shows the same: a search, a row."""

import streamlit as st

MAX_VALUE_LENGTH = 1_000  # characters; longer names of selected rows are not put into the URL


def search(placeholder: str, key: str = "q") -> str:
    """Show a search box. Return its text, which the URL contains as `key`."""
    text = st.text_input(
        "Search",
        key=key,
        bind="query-params",
        placeholder=placeholder,
        icon=":material/search:",
        label_visibility="collapsed",
    )
    return text or ""


def remember(key: str, value: str | None) -> None:
    """Put a selected value into the URL, or remove it. A value that is too long is left out."""
    if value is not None and len(value) <= MAX_VALUE_LENGTH:
        if st.query_params.get(key) != value:
            st.query_params[key] = value
    elif key in st.query_params:
        del st.query_params[key]
