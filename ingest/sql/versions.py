"""What wrote a run: the version of the tables' columns, and of the logic that fills them."""

import ast
import hashlib
import io
import tokenize
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from ingest.sql.loader import IN_SCRATCH, SQL_DIRECTORY, of_kind, tables
from ingest.sql.order import generated, nodes

ROOMS = ("formats", "inputs", "pipeline", "redaction")  # of Python, between files and tables


def digest(texts: Iterable[str]) -> str:
    """A few characters that differ where the texts do."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


@cache
def table_columns() -> dict[str, dict[str, str]]:
    """The columns of each table of a run, with their types, but for `run_id`."""
    stored = {table.name for table in tables()}
    return {node.name: dict(node.columns) for node in nodes("scratch") if node.name in stored}


@cache
def schema_version() -> str:
    """Runs of the same version have the same tables with the same columns."""
    return digest(
        f"{table}.{column} {kind}"
        for table, columns in sorted(table_columns().items())
        for column, kind in columns.items()
    )


def logic_version() -> str:
    """Runs of the same version have the same figures for the same files."""
    return str(generated()["logic"])


def derive_logic() -> str:
    """The version of the logic, from the SQL and the Python between files and tables."""
    statements = [file.statement for file in of_kind(*IN_SCRATCH, "queries")]
    modules = sorted(path for room in ROOMS for path in (SQL_DIRECTORY.parent / room).rglob("*.py"))
    return digest([*statements, *map(_code, modules)])


def _code(module: Path) -> str:
    """A module's code without comments, docstrings and empty lines."""
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
