"""The staged tables of the scratch database, which the readers of files fill."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import pyarrow as pa

from ingest.errors import ProfileError
from ingest.formats.source import Source

Progress = Callable[[int], None]  # called with the bytes of the file on disk read so far
T = TypeVar("T")


class Staging:
    """The staged tables of one run, in the database of `connection`.

    `sources` are at first the files of the run, numbered from 0. Readers add the further processes
    that they find in a file.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, sources: list[Source]) -> None:
        self.connection = connection
        self.sources = sources
        self._files = len(sources)
        self._shared: dict[Callable[[], Any], Any] = {}

    def on(self, connection: duckdb.DuckDBPyConnection) -> "Staging":
        """Return the staging of the same sources through another connection."""
        other = Staging(connection, self.sources)
        other._files = self._files
        return other

    def shared(self, make: Callable[[], T]) -> T:
        """Return an object that all files of the run share; `make()` creates it on first use."""
        if make not in self._shared:
            self._shared[make] = make()
        made: T = self._shared[make]
        return made

    def part_of(self, source: Source, number: int) -> Source:
        """Add a source for the process `number`, from 1, in the file of `source`, and return it.

        Its id does not depend on the order in which files are read. The size of the file counts
        only once.
        """
        part = replace(
            source,
            source_id=number * self._files + source.source_id,
            bytes=None,
            json_bytes=None,
            dropped={},
            coded_warnings=[each for each in source.coded_warnings if each.code == "truncated"],
        )
        self.sources.append(part)
        return part

    def insert(self, table: str, rows: pa.Table, columns: str = "*") -> None:
        """Insert rows into a table, matching columns by name.

        `columns`: the SELECT list over `rows`, which may compute further columns.
        """
        self.connection.register("incoming", rows)
        self.connection.execute(f"INSERT INTO {table} BY NAME SELECT {columns} FROM incoming")
        self.connection.unregister("incoming")


def until_failure(
    batches: Iterator[pa.RecordBatch], path: Path, failures: list[ProfileError]
) -> Iterator[pa.RecordBatch]:
    """Yield a file's batches up to an error, and append the error to `failures`.

    DuckDB iterates over the batches and would wrap an exception in a message of its own.
    """
    try:
        yield from batches
    except ProfileError as error:
        failures.append(error)
    except OSError as error:
        failures.append(ProfileError(f"{path}: {error.strerror or error}"))
