"""`--redact-paths`: keeps paths, which name a machine's users, out of the store."""

from pathlib import Path

import duckdb

from ingest import sql


def redact_paths(connection: duckdb.DuckDBPyConnection) -> None:
    """Makes the paths relative in all columns that the headers of the staged tables name."""
    directory = str(Path.cwd())
    for table in sql.of_kind("staged"):
        for column, macro in table.paths.items():
            relative = f"{macro}({column}, $1)"
            connection.execute(
                f"UPDATE {table.name} SET {column} = {relative} "
                f"WHERE {column} IS DISTINCT FROM {relative}",
                [directory],
            )
