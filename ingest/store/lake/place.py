"""Access to the files of a lake: its URL, and how Delta and DuckDB open it."""

import os
import shutil
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from ingest.errors import StoreError
from ingest.store.lake import remote
from ingest.store.lake.answers import reason, repeated

if TYPE_CHECKING:
    from deltalake import DeltaTable
    from deltalake.fs import DeltaStorageHandler

PROBE = "probe"
REQUESTS = 8  # at a time
WRITTEN = datetime.fromtimestamp(0, UTC)  # of all files, because they never change
_lock = threading.Lock()


@dataclass(frozen=True)
class LakePlace:
    """A URL of object storage, or of a directory: s3://bucket/prefix (or gs://, az://), file:///dir.

    `url` is one of `ingest.store.place.url_of`.
    """

    url: str

    @cached_property
    def tables(self) -> "type[DeltaTable]":
        """The class of Delta tables. Raise StoreError if the extra `lake` is not installed."""
        os.environ.setdefault("RUST_LOG", "error")  # it would print warnings of its own
        remote.check_packages(self.scheme)
        from deltalake import DeltaTable

        return DeltaTable

    @property
    def is_remote(self) -> bool:
        """Whether the files are on object storage."""
        return self.scheme in remote.PACKAGES

    @property
    def scheme(self) -> str:
        """The scheme of the URL."""
        return self.url.partition("://")[0]

    def path(self, table: str, file: str = "") -> str:
        """Return the path of a table, or of a file in it: a path for file://, else a URL."""
        parts = (self.url.removeprefix("file://"), table, file)
        return "/".join(filter(None, parts))

    @cached_property
    def options(self) -> dict[str, str]:
        """The storage options of Delta (`remote.options`)."""
        return remote.options(self.scheme)

    @cached_property
    def filesystem(self) -> Any:
        """The file system of fsspec, which also knows local paths."""
        import fsspec

        # The environment, and what other processes wrote, may have changed since an earlier one.
        fresh = {"skip_instance_cache": True, "use_listings_cache": False}
        return fsspec.filesystem(self.scheme, **(fresh if self.is_remote else {}))

    def exists(self, table: str) -> bool:
        """Return whether a table exists. Raise StoreError if the lake cannot be reached."""
        with self.reported("read"):
            return repeated(lambda: bool(self.tables.is_deltatable(self.path(table), self.options)))

    def open(self, table: str, version: int | None = None) -> "DeltaTable":
        """Open a table, at a version or the latest one.

        Raise StoreError if it cannot be read, or does not exist.
        """
        with self.reported("read"):
            path = self.path(table)
            return repeated(lambda: self.tables(path, version, self.options))

    def content(self, table: str, file: str) -> bytes:
        """Return the content of a file in the directory of a table."""
        with self.reported("read"):
            return bytes(self.filesystem.cat_file(self.path(table, file)))

    def commit(self, table: str, version: int) -> bytes:
        """Return the content of the commit of a version of a table."""
        with self.reported("read"):
            files = self._delta_files(table)
            return repeated(lambda: bytes(files.open_input_file(_commit(version)).read()))

    def has_commit(self, table: str, version: int) -> bool:
        """Return whether a table has a version."""
        files = self._delta_files(table)
        with self.reported("read"):
            try:
                repeated(lambda: files.open_input_file(_commit(version)))
            except FileNotFoundError:
                return False
        return True

    def has(self, table: str, file: str) -> bool:
        """Return whether there is a file in the directory of a table."""
        return bool(self.filesystem.exists(self.path(table, file)))

    def upload(self, file: Path, table: str, name: str) -> None:
        """Copy a local file into the directory of a table, as a new file."""
        target = self.path(table, name)
        with self.reported("write"):
            if self.is_remote:
                self.filesystem.put_file(str(file), target)
            else:
                Path(target).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)

    def modified(self, table: str, file: str) -> datetime:
        """Return the time when a file was written, by the clock of the storage."""
        modified: datetime = self.filesystem.modified(self.path(table, file))
        return modified

    def now(self) -> datetime:
        """Return the time by the clock of the storage."""
        probe = f"{self.path(PROBE)}-{uuid.uuid4().hex}"
        self.filesystem.pipe_file(probe, b"")
        try:
            now: datetime = self.filesystem.modified(probe)
        finally:
            self.filesystem.rm_file(probe)
        return now

    def register(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Let a connection read the files whose paths `paths_to_read` returned."""
        if self.is_remote:
            connection.register_filesystem(self._reader)

    def paths_to_read(self, table: str, sizes: Mapping[str, int]) -> list[str]:
        """Return the paths of files of a table that a connection will read.

        `sizes` maps the files to their sizes in bytes. So DuckDB, which asks for the size of each
        file ten times, sends no request for it.
        """
        if self.is_remote:
            with _lock:  # DuckDB binds statements in several threads
                directories: set[str] = set()
                for file, size in sizes.items():
                    path = self.path(table, file).removeprefix(f"{self.scheme}://")
                    entry = {"name": path, "size": size, "type": "file", "LastModified": WRITTEN}
                    directories.add(path.rpartition("/")[0])
                    self._listed.setdefault(path.rpartition("/")[0], {})[path] = entry
                for directory in directories:
                    self._reader.dircache[directory] = list(self._listed[directory].values())
        return [self.path(table, file) for file in sizes]

    def _delta_files(self, table: str) -> "DeltaStorageHandler":
        """Return Delta's own access to the files of a table."""
        from deltalake.fs import DeltaStorageHandler

        return DeltaStorageHandler(self.path(table), self.options)

    @cached_property
    def _reader(self) -> Any:
        """The file system of connections, which imports s3fs only if it is used."""
        return remote.on_demand(self.scheme)

    @cached_property
    def _listed(self) -> dict[str, dict[str, dict[str, Any]]]:
        """What `paths_to_read` was told, by directory and file."""
        return {}

    @contextmanager
    def reported(self, doing: str) -> Iterator[None]:
        """Raise StoreError if the body cannot read or write (`doing`) the lake."""
        try:
            yield
        except StoreError:
            raise
        except Exception as error:  # libraries for object storage have errors of their own
            if type(error).__name__ == "TableNotFoundError":
                raise StoreError(
                    f"{self.url}: no such store; `ingest add` and `ingest push` create one"
                ) from None
            raise StoreError(f"{self.url}: cannot {doing} the store: {reason(error)}") from error


def _commit(version: int) -> str:
    """Return the path of the file of a commit, in the table."""
    return f"_delta_log/{version:020}.json"
