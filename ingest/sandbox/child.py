"""A worker process that answers queries one at a time: `python -m ingest.sandbox.child`.

It reads each query from stdin as a line of JSON. It writes a line of JSON to stdout, followed by
`bytes` bytes of Arrow IPC, where `bytes` is a number in that line. The process exits when stdin is
closed, even in the middle of a query. It also exits when a query runs out of memory, because memory
that such a query leaves allocated would be missing for the next one.
"""

import bisect
import json
import os
import queue
import sys
import threading
import traceback
from contextlib import suppress
from typing import IO, Any

import duckdb
import pyarrow as pa

from ingest import sql
from ingest.errors import StoreError
from ingest.sandbox.checks import checked
from ingest.sandbox.worker import OUT_OF_MEMORY
from ingest.sandbox.writer import for_arrow
from ingest.store.connection import read_statement
from ingest.store.opening import existing

SETTINGS = (
    "SET enable_external_access = false",
    "SET python_enable_replacements = false",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET allow_community_extensions = false",
    "SET max_temp_directory_size = '0B'",
    "SET enable_progress_bar = false",
    "SET lock_configuration = true",
)
MAX_THREADS = 8  # each needs a stack and buffers, and several processes share the machine
OWN_BYTES = 1 << 30  # memory of the process besides DuckDB's: its code and the result
BATCH_ROWS = 2_048  # DuckDB's vector size
OUT_OF_MEMORY_TEXTS = ("Out of Memory", "memory allocation failed")  # in errors of several types


def main(store: str, memory: str, rows: str, size: str) -> None:
    """Answer queries on a store. Arguments come from the command line.

    `memory` limits DuckDB's memory in bytes. At most `rows` rows and `size` bytes of
    each result are kept.
    """
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # keep other output out of the answers
    try:
        connection = _connect(store, int(memory))
    except (duckdb.Error, StoreError) as error:
        _send(answers, {"error": f"The store cannot be read: {error}"})
        return
    _limit_memory(int(memory) + OWN_BYTES)
    queries: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(queries,), daemon=True).start()
    _send(answers, {})
    while True:
        try:
            _send(answers, *_answer(connection, queries.get(), int(rows), int(size)))
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        except Exception:
            traceback.print_exc()
            os._exit(1)


def _connect(place: str, memory: int) -> duckdb.DuckDBPyConnection:
    threads = min(os.cpu_count() or 1, MAX_THREADS)
    connection = duckdb.connect(
        config={"memory_limit": f"{memory}B", "threads": threads, "temp_directory": ""}
    )
    store = existing(place)
    readable = [f"{path}/" for path in store.places_read()]
    connection.execute(f"SET allowed_directories = {sql.literal(readable)}")
    store.create_views(connection)
    for setting in SETTINGS:
        connection.execute(setting)
    return connection


def _limit_memory(size: int) -> None:
    """Set the system's memory limit for this process, in bytes.

    DuckDB checks its own limit neither for single values nor in Arrow conversions. The system's
    limit covers only writable memory (RLIMIT_DATA), because DuckDB reserves much address space
    that it never uses. On a system without this limit, DuckDB's limit and the deadline remain.
    """
    with suppress(ImportError, ValueError, OSError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (size, hard))


def _listen(queries: "queue.SimpleQueue[str]") -> None:
    for line in sys.stdin.buffer:
        queries.put(json.loads(line))
    os._exit(0)


def _send(answers: IO[bytes], header: dict[str, Any], *parts: Any) -> None:
    size = sum(len(part) for part in parts)
    answers.write(json.dumps({**header, "bytes": size}).encode() + b"\n")
    for part in parts:
        answers.write(part)
    answers.flush()


def _answer(
    connection: duckdb.DuckDBPyConnection, text: str, rows: int, size: int
) -> tuple[Any, ...]:
    """Return a header and, if the query succeeds, its rows.

    Raise MemoryError if the query runs out of memory.
    """
    try:
        with connection.cursor() as cursor:
            table, cut_at = read_statement(cursor, lambda: _read(checked(cursor, text), rows, size))
            return {"cut_at": cut_at}, _serialized(table)
    except (duckdb.FatalException, duckdb.InternalException):
        raise  # the database refuses all further queries
    except Exception as error:
        message = str(error).strip() or type(error).__name__
        if isinstance(error, MemoryError) or any(text in message for text in OUT_OF_MEMORY_TEXTS):
            raise MemoryError from error
        return ({"error": message},)


def _read(relation: duckdb.DuckDBPyRelation, rows: int, size: int) -> tuple[pa.Table, str]:
    """Return as many rows as both limits allow, and the limit that cut them off, or ``""``."""
    reader = for_arrow(relation).limit(rows + 1).to_arrow_reader(BATCH_ROWS)
    batches: list[pa.RecordBatch] = []
    left = size
    for batch in reader:
        if batch.nbytes > left:
            fitting = bisect.bisect(
                range(batch.num_rows), left, key=lambda count: batch.slice(0, count + 1).nbytes
            )
            batches.append(batch.slice(0, fitting))
            return pa.Table.from_batches(batches, reader.schema).slice(0, rows), _mib(size)
        batches.append(batch)
        left -= batch.nbytes
    table = pa.Table.from_batches(batches, reader.schema)
    return table.slice(0, rows), f"{rows:,} rows" if table.num_rows > rows else ""


def _mib(size: int) -> str:
    return f"{size / (1 << 20):g} MiB"


def _serialized(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue()


if __name__ == "__main__":
    main(*sys.argv[1:])
