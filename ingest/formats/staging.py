"""The scratch database, as the readers of files fill it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import pyarrow as pa

from ingest.errors import ProfileError

Progress = Callable[[int], None]  # hears how many bytes of a file on disk have been read
T = TypeVar("T")


class Staging:
    """The staged tables of one run, behind `connection`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self._shared: dict[Callable[[], Any], Any] = {}

    def shared(self, make: Callable[[], T]) -> T:
        """What all files of the run have in common: made by `make()` for the first of them."""
        if make not in self._shared:
            self._shared[make] = make()
        made: T = self._shared[make]
        return made

    def insert(self, table: str, rows: pa.Table, columns: str = "*") -> None:
        """Adds rows to a table, each column to the one of its name; `columns` may compute some."""
        self.connection.register("incoming", rows)
        self.connection.execute(f"INSERT INTO {table} BY NAME SELECT {columns} FROM incoming")
        self.connection.unregister("incoming")


def until_failure(
    batches: Iterator[pa.RecordBatch], path: Path, failures: list[ProfileError]
) -> Iterator[pa.RecordBatch]:
    """A file's batches up to an error, which goes into `failures`.

    DuckDB, which iterates, would wrap the error in a text of its own.
    """
    try:
        yield from batches
    except ProfileError as error:
        failures.append(error)
    except OSError as error:
        failures.append(ProfileError(f"{path}: {error.strerror or error}"))
