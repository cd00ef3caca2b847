"""Redaction of paths, which contain user names: option `--redact-paths`."""

from pathlib import Path

import duckdb

from ingest import sql


def redact_paths(connection: duckdb.DuckDBPyConnection) -> None:
    """Make paths relative in all columns listed under `Paths:` in headers of staged tables."""
    directory = str(Path.cwd())
    for table in sql.of_kind("staged"):
        for column, macro in table.paths.items():
            relative = f"{macro}({column}, $1)"
            connection.execute(
                f"UPDATE {table.name} SET {column} = {relative} "
                f"WHERE {column} IS DISTINCT FROM {relative}",
                [directory],
            )
