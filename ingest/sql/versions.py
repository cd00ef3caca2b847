"""The versions stored with a run: of the tables' columns, and of the logic that fills them."""

import ast
import hashlib
import io
import tokenize
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from pathlib import Path

from ingest.sql.loader import IN_SCRATCH, SQL_DIRECTORY, of_kind, tables
from ingest.sql.of_run import definitions
from ingest.sql.order import Node, as_json, derive, generated, nodes

# The Python packages that turn files into tables.
PACKAGES = ("formats", "inputs", "conversion", "redaction")
# Columns of tables that had another name in earlier versions: table → column → earlier name.
EARLIER_NAMES = {
    "device_time": {"idle_ns": "bubble_ns"},
    "run_metrics": {"idle_ns": "bubble_ns", "is_default": "is_slowest"},
    "run_parts": {"is_default": "is_slowest"},
    "run_overview": {"idle_ns": "bubble_ns", "idle_percent": "bubble_percent"},
}


def added_columns(table: str, stored: Collection[str]) -> dict[str, str]:
    """Return expressions for columns that a version of a table lacks.

    They are computed from the columns that it has, which are `stored`.
    """
    if table == "sources":
        return {
            "known_devices": "recorded_devices(metadata)",
            "conditions": "recorded_conditions(metadata)",
        }
    if "device_id" not in table_columns()[table] or not {"rank", "device"} <= set(stored):
        return {}
    keys = [name for name in ("rank", "device", "device_type") if name in stored]
    return {"device_id": f"device_id_of({', '.join(keys)})"}


def digest(texts: Iterable[str]) -> str:
    """Return a short digest of some texts."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


@cache
def table_columns() -> dict[str, dict[str, str]]:
    """Return the columns of each table of a run, with their types, except `run_id`."""
    stored = {table.name for table in tables()}
    return {node.name: dict(node.columns) for node in nodes("scratch") if node.name in stored}


@cache
def schema_version() -> str:
    """Return the version of the schema.

    Runs of the same version have the same tables with the same columns.
    """
    return digest(
        f"{table}.{column} {kind}"
        for table, columns in sorted(table_columns().items())
        for column, kind in columns.items()
    )


def logic_version() -> str:
    """Return the version of the logic.

    Runs of the same version have the same values for the same files.
    """
    return str(generated()["logic"])


def derive_file() -> str:
    """Derive the text of `generated_order.json`."""
    orders = derive()
    return as_json(orders, _logic(orders["catalog"]))


def _logic(catalog: Sequence[Node]) -> str:
    """Compute the version of the logic from the SQL and the Python that turn files into tables."""
    statements = [file.statement for file in of_kind(*IN_SCRATCH, "queries")]
    statements += definitions({node.name: node.reads for node in catalog})
    directories = [SQL_DIRECTORY.parent / package for package in PACKAGES]
    modules, data = (
        sorted(path for directory in directories for path in directory.rglob(name))
        for name in ("*.py", "*.tsv")
    )
    return digest([*statements, *map(_code, modules), *map(_rows, data)])


def _rows(table: Path) -> str:
    """Return the rows of a table without its last column, the source."""
    lines = table.read_text(encoding="utf-8").splitlines()
    return "\n".join(line.rpartition("\t")[0] for line in lines)


def _code(module: Path) -> str:
    """Return a module's code without comments, docstrings and empty lines."""
    text = module.read_text(encoding="utf-8")
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node, clean=False
        ):
            first = node.body[0]
            for row in range(first.lineno - 1, first.end_lineno or first.lineno):
                lines[row] = ""
    return "\n".join(line.rstrip() for line in lines if line.strip())
