"""Writing a run's tables from the scratch database to Parquet."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa

from ingest import sql

FORMAT = "(FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2)"
ORDER = {
    "ops": "source_id, pid, tid, start_ns, event_id",
    "kernels": "source_id, device, start_ns, event_id",
    "bubbles": "source_id, device, start_ns",
}
SLICE_ROWS = 4_000_000
READ_ROWS = 1 << 16


def write_tables(
    connection: duckdb.DuckDBPyConnection,
    directory: Path,
    empty: frozenset[str] = frozenset(),
) -> None:
    """Writes `<table>.parquet` into `directory` for each table but those in `empty`."""
    # Events join what is known of them: the narrow side is written on the right, to be held in
    # memory, and DuckDB, which cannot tell how many pass the filter on the left, would swap.
    connection.execute("SET disabled_optimizers = 'build_side_probe_side'")
    slices = connection.execute(sql.query("slices"), {"rows": SLICE_ROWS}).fetchall()
    for table in sql.tables():
        if table.name in empty:
            continue
        target = sql.literal(directory / f"{table.name}.parquet")
        if table.name == "events" and len(slices) > 1:
            events = pa.RecordBatchReader.from_batches(
                _rows(connection, "FROM events LIMIT 0").schema, _in_slices(connection, slices)
            )
            connection.register("events_in_slices", events)
            connection.execute(f"COPY (FROM events_in_slices) TO {target} {FORMAT}")
            connection.unregister("events_in_slices")
        else:
            order = f"ORDER BY {ORDER[table.name]}" if table.name in ORDER else ""
            connection.execute(f"COPY (FROM {table.name} {order}) TO {target} {FORMAT}")


def write_index_row(connection: duckdb.DuckDBPyConnection, file: Path) -> None:
    """Writes the run's row of the index, with an empty `run_id`, from the scratch database."""
    rows = sql.indexed_rows([""], lambda table: f"SELECT '' AS run_id, * FROM main.{table}")
    connection.execute(f"COPY ({rows}) TO {sql.literal(file)} (FORMAT parquet)")


def _in_slices(
    connection: duckdb.DuckDBPyConnection, slices: list[tuple[int, int]]
) -> Iterator[pa.RecordBatch]:
    """The events, slice by slice: of all at once the joins would go by disk, args and all."""
    for from_id, to_id in slices:
        yield from _rows(
            connection, f"FROM events WHERE event_id >= {from_id} AND event_id < {to_id}"
        )


def _rows(connection: duckdb.DuckDBPyConnection, query: str) -> pa.RecordBatchReader:
    return connection.cursor().sql(query).to_arrow_reader(READ_ROWS)
