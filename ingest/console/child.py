"""A process that answers a console's queries, one at a time: `python -m ingest.console.child`.

It reads each query from stdin as a line of JSON and writes to stdout a line of JSON and, where
that says `bytes`, as many bytes of Arrow IPC. It ends with stdin, even in the middle of a query.
A query that it has not the memory for ends it too: what such a query leaves behind is in the way
of the next.
"""

import bisect
import json
import os
import queue
import sys
import threading
import traceback
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import duckdb
import pyarrow as pa

from ingest import sql
from ingest.console.checks import checked
from ingest.console.worker import OUT_OF_MEMORY
from ingest.console.writer import for_arrow
from ingest.errors import StoreError
from ingest.store.connection import create_views, read
from ingest.store.store import existing

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
MOST_THREADS = 8  # each has its own stack and buffers, and several processes share the machine
BESIDE = 1 << 30  # bytes that the process may need beside DuckDB's memory: its code, its result
BATCH = 2_048  # rows that DuckDB makes at a time
NO_MEMORY = ("Out of Memory", "memory allocation failed")  # in errors of several types


def main(store: str, memory: str, rows: str, size: str) -> None:
    """Answers queries on a store within bytes of memory; of a result it keeps `rows` or `size`."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what else writes there is no answer
    try:
        connection = _connect(Path(store), int(memory))
    except (duckdb.Error, StoreError) as error:
        _send(answers, {"error": f"The store cannot be read: {error}"})
        return
    _limit(int(memory) + BESIDE)
    asked: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(asked,), daemon=True).start()
    _send(answers, {})
    while True:
        try:
            _send(answers, *_answer(connection, asked.get(), int(rows), int(size)))
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        except Exception:
            traceback.print_exc()
            os._exit(1)


def _connect(store: Path, memory: int) -> duckdb.DuckDBPyConnection:
    threads = min(os.cpu_count() or 1, MOST_THREADS)
    connection = duckdb.connect(
        config={"memory_limit": f"{memory}B", "threads": threads, "temp_directory": ""}
    )
    connection.execute(f"SET allowed_directories = [{sql.literal(f'{store}/')}]")
    create_views(connection, existing(store))
    for setting in SETTINGS:
        connection.execute(setting)
    return connection


def _limit(size: int) -> None:
    """DuckDB's own limit is not asked for single values nor by Arrow: the system's is by all.

    Of the address space only what can be written counts, as DuckDB reserves much that it never
    uses. Where the system has no such limit, DuckDB's and the deadline remain.
    """
    with suppress(ImportError, ValueError, OSError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (size, hard))


def _listen(asked: "queue.SimpleQueue[str]") -> None:
    for line in sys.stdin.buffer:
        asked.put(json.loads(line))
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
    """A header and, where the query has an answer, its rows. Raises MemoryError."""
    try:
        with connection.cursor() as cursor:
            table, cut_at = read(connection, lambda: _read(checked(cursor, text), rows, size))
            return {"cut_at": cut_at}, _serialized(table)
    except (duckdb.FatalException, duckdb.InternalException):
        raise  # the database answers nothing any more
    except Exception as error:
        said = str(error).strip() or type(error).__name__
        if isinstance(error, MemoryError) or any(sign in said for sign in NO_MEMORY):
            raise MemoryError from error
        return ({"error": said},)


def _read(relation: duckdb.DuckDBPyRelation, rows: int, size: int) -> tuple[pa.Table, str]:
    """As many of the rows as both limits allow, and the limit that cut them off."""
    reader = for_arrow(relation).limit(rows + 1).to_arrow_reader(BATCH)
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
