"""From what was logged of compilations to their tables: SQL files, and the nesting of phases."""

import duckdb

from ingest import sql
from ingest.pipeline.nesting import nest

BEFORE_NESTING = ("compile_spans",)
AFTER_NESTING = (
    "measured",
    "known_compilations",
    "compilations",
    "compile_phases",
    "graph_breaks",
    "graphs",
    "graph_calls",
    "compiled_kernels",
    "compiled_ops",
    "compiled_calls",
)


def normalise_compilation(connection: duckdb.DuckDBPyConnection) -> None:
    """Creates the tables of compilations, once those of events, steps and kernels are there."""
    for name in BEFORE_NESTING:
        connection.execute(sql.script(name))
    nest(connection, "nesting_phases", "compile_nest")
    for name in AFTER_NESTING:
        connection.execute(sql.script(name))
