"""Access to the files of a lake: its URL, and how Delta and DuckDB open it."""

import os
import re
import shutil
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import duckdb

from ingest.errors import StoreError
from ingest.store.lake.on_demand import s3_on_demand

if TYPE_CHECKING:
    from deltalake import DeltaTable
    from deltalake.fs import DeltaStorageHandler

MISSING = "a store at a URL needs more packages: pip install 'tracehouse[lake]'"
PROBE = "probe"
READS = 5
CUT_SHORT = ("before message length reached", "response body")  # in messages of Delta
REQUESTS = 8  # at a time
WRITTEN = datetime.fromtimestamp(0, UTC)  # of all files, because they never change
CONTROL = re.compile(r"\x1b\[[0-9;]*m")
PROFILES = ("AWS_PROFILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE")
GONE = "a file is gone; `ingest check` finds it, or a vacuum deleted it: open the store again"

# Parts of the messages of libraries, and their meanings. No path of a file contains them.
REASONS = {
    "//169.254.": "no credentials in the environment",
    "<Code>NoSuchBucket": "no such bucket",
    "ExpiredToken": "the credentials have expired",
    "status code: 403": "access denied",
    "Access Denied": "access denied",
    "NoSuchKey": GONE,
    "No files found that match": GONE,
    "<Code>PermanentRedirect": "wrong region (AWS_REGION)",
}

T = TypeVar("T")

_lock = threading.Lock()


@dataclass(frozen=True)
class LakePlace:
    """A URL of object storage, or of a directory: s3://bucket/prefix, file:///directory.

    `url` is one of `ingest.store.place.url_of`.
    """

    url: str

    @cached_property
    def tables(self) -> "type[DeltaTable]":
        """The class of Delta tables. Raise StoreError if the extra `lake` is not installed."""
        os.environ.setdefault("RUST_LOG", "error")  # it would print warnings of its own
        try:
            from deltalake import DeltaTable
        except ImportError as error:
            raise StoreError(MISSING) from error
        if self.is_remote and not find_spec("s3fs"):  # an import takes half a second
            raise StoreError(MISSING)
        return DeltaTable

    @property
    def is_remote(self) -> bool:
        """Whether the files are on object storage."""
        return self.url.startswith("s3://")

    def path(self, table: str, file: str = "") -> str:
        """Return the path of a table, or of a file in it: a path for file://, else a URL."""
        parts = (self.url.removeprefix("file://"), table, file)
        return "/".join(filter(None, parts))

    @cached_property
    def options(self) -> dict[str, str]:
        """The storage options of Delta. It reads credentials in variables of the environment.

        Those of a profile come from botocore, which s3fs uses.
        """
        if not self.is_remote:
            return {}
        options = {"aws_conditional_put": "etag"}
        if "AWS_ACCESS_KEY_ID" not in os.environ and any(map(os.environ.get, PROFILES)):
            options |= _of_profile()
        if endpoint := os.environ.get("AWS_ENDPOINT_URL", ""):
            if not endpoint.startswith(("http://", "https://")):
                raise StoreError("AWS_ENDPOINT_URL must begin with http:// or https://")
            options["AWS_ENDPOINT_URL"] = endpoint
            if endpoint.startswith("http://"):
                options["AWS_ALLOW_HTTP"] = "true"
        return options

    @cached_property
    def filesystem(self) -> Any:
        """The file system of fsspec, which also knows local paths."""
        import fsspec

        if not self.is_remote:
            return fsspec.filesystem("file")
        # The environment, and what other processes wrote, may have changed since an earlier one.
        return fsspec.filesystem("s3", skip_instance_cache=True, use_listings_cache=False)

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
                    path = self.path(table, file).removeprefix("s3://")
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
        return s3_on_demand()

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


def repeated(read: Callable[[], T]) -> T:
    """Return the result of `read`. Call it again if an answer was cut short."""
    for attempt in range(1, READS):
        try:
            return read()
        except Exception as error:
            if not is_cut_short(error):
                raise
            time.sleep(0.1 * attempt)
    return read()


def is_cut_short(error: Exception) -> bool:
    """Return whether an answer of the storage ended early. Delta does not repeat such a request."""
    return any(sign in str(error) for sign in CUT_SHORT)


def _commit(version: int) -> str:
    """Return the path of the file of a commit, in the table."""
    return f"_delta_log/{version:020}.json"


def _of_profile() -> dict[str, str]:
    """Return the storage options for the credentials of a profile."""
    import botocore.exceptions
    import botocore.session

    session = botocore.session.get_session()
    try:
        found = session.get_credentials()
        region = session.get_config_variable("region")
    except botocore.exceptions.BotoCoreError as error:
        raise StoreError(str(error)) from error
    if not found:
        return {}
    keys = found.get_frozen_credentials()
    options = {"AWS_ACCESS_KEY_ID": keys.access_key, "AWS_SECRET_ACCESS_KEY": keys.secret_key}
    if keys.token:
        options["AWS_SESSION_TOKEN"] = keys.token
    return options | ({"AWS_REGION": region} if region else {})


def reason(error: Exception) -> str:
    """Return the reason in an error of a library, in one line."""
    text = CONTROL.sub("", str(error))
    if known := next((meaning for sign, meaning in REASONS.items() if sign in text), None):
        return known
    lines = [line.strip(" ↳") for line in text.splitlines() if line.strip(" ↳")]
    if not lines:
        return type(error).__name__
    return f"{lines[0]}: {lines[-1]}" if "↳" in text else lines[0]
