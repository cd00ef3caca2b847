"""The schema browser: tables, views and macros with the comments they carry in the database."""

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
    is_table = views["name"].isin([table.name for table in ingest.tables()])
    with st.container(height=640, border=False, gap=None):
        for heading, found in (("Tables", views[is_table]), ("Views", views[~is_table])):
            if not found.empty:
                st.caption(heading)
            for view in found.itertuples():
                with st.expander(view.name, type="compact"):
                    lines = _lines(of_view[view.name])
                    st.markdown("\n".join([formatting.literal(view.comment), "", *lines]))
        if not macros.empty:
            st.caption("Table macros")
        for macro in macros.itertuples():
            with st.expander(macro.name, type="compact"):
                st.code(f"{macro.name}({', '.join(macro.parameters)})", language="sql")
                st.markdown(formatting.literal(macro.comment))
        if views.empty and macros.empty:
            st.caption("No table, column or word like that; clear the search.")


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
