"""Parsing of pieces of a trace as events, in DuckDB."""

import duckdb
import pyarrow as pa

from ingest import sql


def parse(
    connection: duckdb.DuckDBPyConnection,
    source_id: int,
    pieces: pa.RecordBatchReader,
    has_literal_backslashes: bool = False,
) -> None:
    """Parse pieces of text into table `staged`: `sql/kineto/queries/parse.sql`."""
    connection.register("pieces", pieces)
    connection.execute(
        sql.query("parse"),
        {"source_id": source_id, "has_literal_backslashes": has_literal_backslashes},
    )
    connection.unregister("pieces")
