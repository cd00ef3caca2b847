"""From what was logged of compilations to their tables: SQL files, and the nesting of phases."""

import duckdb

from ingest import sql
from ingest.nesting import nest

BEFORE_NESTING = ("load/compile_spans",)
AFTER_NESTING = (
    "load/measured",
    "load/known_compilations",
    "tables/compilations",
    "tables/compile_phases",
    "tables/graph_breaks",
    "load/graphs",
    "load/graph_calls",
    "tables/compiled_kernels",
    "tables/compiled_ops",
    "tables/compiled_calls",
)


def normalise_compilation(connection: duckdb.DuckDBPyConnection) -> None:
    """Creates the tables of compilations, once those of events, steps and kernels are there."""
    for name in BEFORE_NESTING:
        connection.execute(sql.script(name))
    nest(connection, "nesting_phases", "compile_nest")
    for name in AFTER_NESTING:
        connection.execute(sql.script(name))
