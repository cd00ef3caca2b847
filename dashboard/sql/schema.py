"""The schema browser: tables, views and macros, with their comments from the database."""

from functools import cache
from pathlib import Path
from typing import Any

from dashboard import data
from dashboard.drawing import component
from ingest import server
from ingest.server import select

HERE = Path(__file__).parent


def browser() -> None:
    """Draw a searchable list of relations. An entry opens to show its columns."""
    component.load(HERE, "schema", "schema").draw("schema", data={"groups": _groups()})


@cache
def _groups() -> list[dict[str, Any]]:
    """Return headings with their relations. The schema is the same in all stores."""
    questions = server.start_here()
    tables = {table.name for table in server.tables()}
    views, macros = _views(), _macros()
    found = views | macros
    others = [name for name in found if name not in questions]
    groups = {
        "Start here": [name for name in questions if name in found],
        "Tables": [name for name in others if name in tables],
        "Views": [name for name in others if name in views and name not in tables],
        "Table macros": [name for name in others if name in macros],
    }
    return [
        {
            "heading": heading,
            "relations": [{**found[name], "question": questions.get(name)} for name in names],
        }
        for heading, names in groups.items()
    ]


def _views() -> dict[str, dict[str, Any]]:
    query = select(
        "view_name AS name, comment", "duckdb_views()", {"internal": False}, order_by="name"
    )
    columns = data.rows(
        select(
            "table_name, column_name AS name, lower(data_type) AS type, "
            "coalesce(comment, '') AS comment",
            "duckdb_columns()",
            {"internal": False},
            order_by="table_name, column_index",
        )
    )
    of_view = {
        name: rows.drop(columns="table_name").to_dict("records")
        for name, rows in columns.groupby("table_name")
    }
    return {
        row.name: {"name": row.name, "comment": row.comment, "columns": of_view[row.name]}
        for row in data.rows(query).itertuples()
    }


def _macros() -> dict[str, dict[str, Any]]:
    # Macros that only other relations use have no comment.
    query = select(
        "function_name AS name, comment, parameters",
        "duckdb_functions()",
        {"function_type": "table_macro", "internal": False, "comment <>": ""},
        order_by="name",
    )
    return {
        row.name: {
            "name": row.name,
            "comment": row.comment,
            "call": f"{row.name}({', '.join(row.parameters)})",
            "columns": [],
        }
        for row in data.rows(query).itertuples()
    }
