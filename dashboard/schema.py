"""The schema browser: tables, views and macros with the comments they carry in the database."""

import streamlit as st

from dashboard import formatting, store
from dashboard.query import select

TABLES = (
    "runs",
    "sources",
    "events",
    "ops",
    "kernels",
    "steps",
    "bubbles",
    "device_time",
)


def browser() -> None:
    """A list of what can be queried; opening an entry shows its columns."""
    views = store.rows(
        select("view_name AS name, comment", "duckdb_views()", {"internal": False}, order_by="name")
    )
    macros = store.rows(
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
    columns = store.rows(
        select(
            "table_name, column_name, data_type, comment",
            "duckdb_columns()",
            {"internal": False},
            order_by="table_name, column_index",
        )
    )
    wanted = (search or "").lower()
    with st.container(height=640, border=False, gap=None):
        for heading, names in (
            ("Tables", [name for name in TABLES if name in set(views["name"])]),
            ("Views", [name for name in views["name"] if name not in TABLES]),
        ):
            st.caption(heading)
            for name in names:
                comment = str(views.loc[views["name"] == name, "comment"].iloc[0])
                mine = columns[columns["table_name"] == name]
                text = " ".join([name, comment, *mine["column_name"], *mine["comment"].fillna("")])
                if wanted in text.lower():
                    with st.expander(name, type="compact"):
                        st.markdown("\n".join([formatting.literal(comment), "", *_lines(mine)]))
        if not macros.empty:
            st.caption("Table macros")
        for macro in macros.itertuples():
            if wanted in f"{macro.name} {macro.comment}".lower():
                with st.expander(str(macro.name), type="compact"):
                    st.code(f"{macro.name}({', '.join(macro.parameters)})", language="sql")
                    st.markdown(formatting.literal(str(macro.comment)))


def _lines(columns: object) -> list[str]:
    return [
        f"- `{column.column_name}` :gray[{column.data_type.lower()}]  \n"
        f"  {formatting.literal(str(column.comment or ''))}"
        for column in columns.itertuples()  # type: ignore[attr-defined]
    ]
