"""Access to the files of a lake: its URL, and how Delta and DuckDB open it."""

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from ingest.errors import StoreError

CONTROL = re.compile(r"\x1b\[[0-9;]*m")

if TYPE_CHECKING:
    from deltalake import DeltaTable


@dataclass(frozen=True)
class LakePlace:
    """A URL of object storage, or of a directory: s3://bucket/prefix, file:///directory."""

    url: str

    @property
    def scheme(self) -> str:
        """The scheme of the URL."""
        return self.url.partition("://")[0]

    @property
    def base(self) -> str:
        """The beginning of the paths of all files: a directory for file://, else the URL."""
        return self.url.removeprefix("file://").rstrip("/")

    def path(self, table: str, file: str = "") -> str:
        """Return the path of a table, or of a file in it."""
        return f"{self.base}/{table}/{file}".rstrip("/")

    @cached_property
    def options(self) -> Mapping[str, str]:
        """The storage options of Delta. Credentials come from the environment."""
        if self.scheme != "s3":
            return {}
        options = {"aws_conditional_put": "etag"}
        if endpoint := os.environ.get("AWS_ENDPOINT_URL", ""):
            options["AWS_ENDPOINT_URL"] = endpoint
            if endpoint.startswith("http://"):
                options["AWS_ALLOW_HTTP"] = "true"
        return options

    @cached_property
    def filesystem(self) -> Any:
        """The file system of fsspec, None for a directory."""
        if self.scheme == "file":
            return None
        import fsspec

        return fsspec.filesystem(self.scheme)

    def exists(self, table: str) -> bool:
        """Return whether a table exists. Raise StoreError if the lake cannot be reached."""
        with self.reported("read"):
            tables = delta_tables()
            return bool(tables.is_deltatable(self.path(table), dict(self.options)))

    def open(self, table: str, version: int | None = None) -> "DeltaTable":
        """Open a table, at a version or the latest one. Raise StoreError if it cannot be read."""
        with self.reported("read"):
            options = dict(self.options)
            return delta_tables()(self.path(table), version=version, storage_options=options)

    @contextmanager
    def reported(self, doing: str) -> Iterator[None]:
        """Raise StoreError if the body cannot read or write (`doing`) the lake."""
        try:
            yield
        except StoreError:
            raise
        except Exception as error:  # libraries for object storage have errors of their own
            raise StoreError(f"{self.url}: cannot {doing} the store: {_reason(error)}") from error

    def upload(self, file: Path, table: str, name: str) -> None:
        """Copy a local file into the directory of a table. It replaces a file of that name."""
        target = self.path(table, name)
        with self.reported("write"):
            if self.filesystem is None:
                Path(target).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)
            else:
                self.filesystem.put_file(str(file), target)

    def register(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Let a connection read the files of the lake."""
        if self.filesystem is not None:
            connection.register_filesystem(self.filesystem)


def delta_tables() -> "type[DeltaTable]":
    """Return the class of Delta tables. Raise StoreError if the extra `lake` is not installed."""
    os.environ.setdefault("RUST_LOG", "error")  # it would print warnings of its own
    try:
        from deltalake import DeltaTable
    except ImportError as error:
        raise StoreError(
            "a store at a URL needs more packages: pip install 'tracehouse[lake]'"
        ) from error
    return DeltaTable


def _reason(error: Exception) -> str:
    """Return a message in one line. Those of deltalake are trees of reasons."""
    lines = [CONTROL.sub("", line).strip(" ↳") for line in str(error).splitlines()]
    return ": ".join(line for line in lines if line) or type(error).__name__
