"""Writing of a run's tables from the scratch database to Parquet."""

from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pyarrow as pa

from ingest import sql
from ingest.conversion.scratch import INDEX_ROW
from ingest.conversion.statements import Statements

FORMAT = "FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2"
# Half of DuckDB's default: the arguments of events are long, and a row group is built in memory.
EVENTS_FORMAT = f"{FORMAT}, ROW_GROUP_SIZE 61_440"
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
    empty: frozenset[str],
    index_row: Path | None,
    workers: int,
    progress: Callable[[float], None] | None = None,
) -> None:
    """Write `<table>.parquet` into `directory` for each table that is not in `empty`.

    `index_row`: the file for the run's row of the index, with an empty `run_id`. `workers`: number
    of tables written at the same time. `progress`: called with the share of files that are written.
    """
    # The joins of `events` have the narrow side on the right, to be kept in memory. DuckDB would
    # swap the sides, because it cannot know how many rows pass the filter on the left.
    connection.execute("SET disabled_optimizers = 'build_side_probe_side'")
    with Statements(connection, workers) as statements:
        writing = []
        if index_row:  # this takes longest
            writing.append(statements.submit(_copy, f"FROM {INDEX_ROW}", index_row))
        writing += [
            statements.submit(_write, table.name, directory)
            for table in sql.tables()
            if table.name not in empty
        ]
        for count, written in enumerate(writing, 1):
            written.result()
            if progress:
                progress(count / len(writing))


def _write(connection: duckdb.DuckDBPyConnection, table: str, directory: Path) -> None:
    source, options = f"FROM {table}", FORMAT
    if table == "events":
        options = EVENTS_FORMAT
        slices = connection.execute(sql.query("slices"), {"rows": SLICE_ROWS}).fetchall()
        if len(slices) > 1:
            schema = _rows(connection, "FROM events LIMIT 0").schema
            rows = _in_slices(connection, slices)
            connection.register("sliced", pa.RecordBatchReader.from_batches(schema, rows))
            source = "FROM sliced"
    elif table in ORDER:
        source += f" ORDER BY {ORDER[table]}"
    _copy(connection, source, directory / f"{table}.parquet", options)


def _copy(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    file: Path,
    options: str = "FORMAT parquet",
) -> None:
    connection.execute(f"COPY ({source}) TO {sql.literal(file)} ({options})")


def _in_slices(
    connection: duckdb.DuckDBPyConnection, slices: list[tuple[int, int]]
) -> Iterator[pa.RecordBatch]:
    """Yield the events in slices. Joins of all at once would spill to disk, with all arguments."""
    for from_id, to_id in slices:
        yield from _rows(
            connection, f"FROM events WHERE event_id >= {from_id} AND event_id < {to_id}"
        )


def _rows(connection: duckdb.DuckDBPyConnection, query: str) -> pa.RecordBatchReader:
    return connection.cursor().sql(query).to_arrow_reader(READ_ROWS)
