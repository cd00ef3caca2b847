"""Buffering of rows from compile logs for the staged tables."""

from typing import Any

import pyarrow as pa

from ingest.formats.compile_log.graphs import Graph
from ingest.formats.compile_log.reader import Record
from ingest.formats.staging import Staging

BATCH_ROWS = 20_000
TEXTS = pa.list_(pa.string())
SCHEMAS = {
    "staged_compile_records": pa.schema(
        [
            ("ordinal", pa.int64()),
            ("compile_id", pa.string()),
            ("attempt", pa.int32()),
            ("reset", pa.int32()),
            ("what", pa.string()),
            ("time_ns", pa.int64()),
            ("body", pa.string()),
            ("stack", pa.string()),
        ]
    ),
    "staged_compile_phases": pa.schema(
        [
            ("compile_id", pa.string()),
            ("phase", pa.string()),
            ("start_ns", pa.int64()),
            ("end_ns", pa.int64()),
            ("reset", pa.int32()),
        ]
    ),
    "staged_graphs": pa.schema(
        [
            ("compiled_graph_id", pa.int32()),
            ("ordinal", pa.int64()),
            ("compile_id", pa.string()),
            ("attempt", pa.int32()),
            ("reset", pa.int32()),
            ("key", pa.string()),
            ("aot_id", pa.string()),
            ("has_origins", pa.bool_()),
        ]
    ),
    "staged_nodes": pa.schema(
        [
            ("compiled_graph_id", pa.int32()),
            ("stage", pa.string()),
            ("ordinal", pa.int64()),
            ("node", pa.string()),
            ("target", pa.string()),
            ("shape", pa.string()),
            ("inputs", TEXTS),
            ("filename", pa.string()),
            ("line", pa.int64()),
            ("function", pa.string()),
            ("code", pa.string()),
        ]
    ),
    "staged_origins": pa.schema(
        [("compiled_graph_id", pa.int32()), ("aten_node", pa.string()), ("nodes", TEXTS)]
    ),
    "staged_kernel_calls": pa.schema(
        [
            ("compiled_graph_id", pa.int32()),
            ("ordinal", pa.int64()),
            ("kernel", pa.string()),
            ("aten_nodes", TEXTS),
            ("stacks", TEXTS),
            ("reads", TEXTS),
            ("writes", TEXTS),
        ]
    ),
}


class Rows:
    """A buffer of rows, inserted into the staged tables in batches."""

    def __init__(self, staging: Staging, source_id: int) -> None:
        self._staging = staging
        self._source_id = source_id
        self._rows: dict[str, list[tuple[Any, ...]]] = {table: [] for table in SCHEMAS}
        self._count = 0
        self._graphs = 0

    def add(self, table: str, *values: Any) -> None:
        """Add a row to a table."""
        self._rows[table].append(tuple(map(_storable, values)))
        self._count += 1
        if self._count >= BATCH_ROWS:
            self.flush()

    def add_record(
        self, record: Record, time_ns: int | None, what: str, body: str | None, stack: str | None
    ) -> None:
        """Add a row for a record."""
        compilation = (record.ordinal, record.compile_id, record.attempt, record.reset)
        self.add("staged_compile_records", *compilation, what, time_ns, body, stack or None)

    def add_graph(self, graph: Graph) -> None:
        """Add a graph, its nodes, their origins and its kernel calls."""
        number = self._graphs
        self._graphs += 1
        compilation = (graph.ordinal, graph.compile_id, graph.attempt, graph.reset)
        has_origins = bool(graph.origins)
        self.add("staged_graphs", number, *compilation, graph.key, graph.aot_id, has_origins)
        for stage, printed in (("program", graph.program), ("aten", graph.lowered)):
            for node in printed:
                self.add("staged_nodes", number, stage, *node)
        for origin in graph.origins.items():
            self.add("staged_origins", number, *origin)
        for call in graph.calls():
            self.add("staged_kernel_calls", number, *call)

    def flush(self) -> None:
        """Insert all buffered rows into their tables."""
        for table, rows in self._rows.items():
            if not rows:
                continue
            schema = SCHEMAS[table]
            columns = [
                pa.array(column, field.type)
                for column, field in zip(zip(*rows, strict=True), schema, strict=True)
            ]
            self._staging.insert(
                table, pa.table(columns, schema=schema), f"*, {self._source_id} AS source_id"
            )
            rows.clear()
        self._count = 0

    def discard(self) -> None:
        """Delete all rows of the file from the staged tables."""
        for table in SCHEMAS:
            self._staging.connection.execute(
                f"DELETE FROM {table} WHERE source_id = $1", [self._source_id]
            )


def _storable(value: Any) -> Any:
    """Return the value with invalid characters in texts replaced."""
    if isinstance(value, list):
        return list(map(_storable, value))
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-8", "replace").decode()
