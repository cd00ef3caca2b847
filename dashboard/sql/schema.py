"""The schema browser: tables, views and macros with the comments they carry in the database."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

import ingest
from dashboard import data
from dashboard.query import select
from dashboard.widgets import formatting


def browser() -> None:
    """A list of what can be queried; opening an entry shows its columns."""
    views = data.rows(
        select("view_name AS name, comment", "duckdb_views()", {"internal": False}, order_by="name")
    )
    macros = data.rows(
        select(
            "function_name AS name, comment, parameters",
            "duckdb_functions()",
            {"function_type": "table_macro", "internal": False},
            order_by="name",
        )
    )
    search = st.text_input(
        "Schema",
        key="schema",
        placeholder="table, column or word",
        icon=":material/search:",
        label_visibility="collapsed",
    )
    columns = data.rows(
        select(
            "table_name, column_name, data_type, comment",
            "duckdb_columns()",
            {"internal": False},
            order_by="table_name, column_index",
        )
    )
    wanted = (search or "").lower()
    of_view = dict(list(columns.groupby("table_name")))
    views = views[[wanted in _words(view, of_view[view.name]) for view in views.itertuples()]]
    macros = macros[[wanted in f"{row.name} {row.comment}".lower() for row in macros.itertuples()]]
    found = {row.name: row for row in (*views.itertuples(), *macros.itertuples())}
    questions = ingest.start_here()
    tables = {table.name for table in ingest.tables()}
    others = [name for name in found if name not in questions]
    groups = {
        "Start here": [name for name in questions if name in found],
        "Tables": [name for name in others if name in tables],
        "Views": [name for name in others if name in of_view and name not in tables],
        "Table macros": [name for name in others if name not in of_view],
    }
    with st.container(height=640, border=False, gap=None):
        _list(groups, found, of_view)
        if not found:
            st.caption("No table, column or word like that; clear the search.")


@st.fragment
def _list(
    groups: Mapping[str, list[str]], found: Mapping[str, Any], of_view: Mapping[str, pd.DataFrame]
) -> None:
    """A line for each relation. Drawing all entries takes 0.8 s, so only open ones are drawn."""
    questions = ingest.start_here()
    for heading, names in groups.items():
        if names:
            st.caption(heading)
        for name in names:
            key = f"schema_{name}"
            with st.expander(name, key=key, type="compact", on_change="rerun") as entry:
                if entry.open:
                    _entry(found[name], questions.get(name), of_view.get(name))


def _entry(relation: Any, question: str | None, columns: pd.DataFrame | None) -> None:
    """What a relation answers and holds; `columns` is None of a macro."""
    if question:
        st.markdown(f"**{formatting.literal(question)}**")
    if columns is None:
        st.code(f"{relation.name}({', '.join(relation.parameters)})", language="sql")
    lines = [] if columns is None else ["", *_lines(columns)]
    st.markdown("\n".join([formatting.literal(relation.comment), *lines]))


def _words(view: Any, columns: pd.DataFrame) -> str:
    """All that a search may find of a table or view."""
    words = [view.name, view.comment, *columns["column_name"], *columns["comment"].fillna("")]
    return " ".join(words).lower()


def _lines(columns: pd.DataFrame) -> list[str]:
    return [
        f"- `{column.column_name}` :gray[{column.data_type.lower()}]  \n"
        f"  {formatting.literal(str(column.comment or ''))}"
        for column in columns.itertuples()
    ]
