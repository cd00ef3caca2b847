"""Copies of small files of lakes, kept for the user. A file of a lake never changes.

    $XDG_CACHE_HOME/tracehouse/lakes/<digest of the URL>/<file>     `~/.cache` by default

DuckDB sends several requests to read a part of a remote file. One request gets all of a small one.
The copy is compared with the file's digest when it is made.
"""

import os
import time
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from ingest import sql
from ingest.cache import cache_directory
from ingest.store.lake.head import LakeFile, paths_to_read
from ingest.store.lake.intact import content_of
from ingest.store.lake.place import REQUESTS, LakePlace

SMALL_BYTES = 4 << 20  # of one file
KEPT_BYTES = 1 << 30  # of all lakes
USED_SECONDS = 3600.0  # a process may be reading a file that was used so lately


def kept_directory(place: LakePlace) -> Path:
    """Return the directory of the copies of a lake's files."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL", "")
    return cache_directory() / "lakes" / sql.digest([endpoint, place.url])


def paths_to_query(place: LakePlace, table: str, files: Sequence[LakeFile]) -> list[str]:
    """Return the paths of files of a table for a connection, of copies where files are small.

    Otherwise as `paths_to_read`.
    """
    small = [file for file in files if file.bytes <= SMALL_BYTES]
    if not place.is_remote or sum(file.bytes for file in small) > KEPT_BYTES // 2:
        return paths_to_read(place, table, files)
    directory = kept_directory(place)
    copies = {file: directory / f"{table}-{file.path.replace('/', '-')}" for file in small}
    with suppress(OSError):  # no home directory
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if missing := [file for file in small if not _is_there(copies[file], file.bytes)]:
            with ThreadPoolExecutor(REQUESTS) as pool:
                list(pool.map(lambda file: _keep(place, table, file, copies[file]), missing))
            _remove_unused(directory.parent)
    there = {file for file, copy in copies.items() if _is_there(copy, file.bytes)}
    remote = [file for file in files if file not in there]
    paths = dict(zip(remote, paths_to_read(place, table, remote), strict=True))
    return [str(copies[file]) if file in there else paths[file] for file in files]


def _is_there(copy: Path, size: int) -> bool:
    """Return whether a copy is there, and note that it is used."""
    try:
        found = copy.stat()
    except FileNotFoundError:
        return False
    if found.st_mtime < time.time() - USED_SECONDS / 2:
        os.utime(copy)
    return found.st_size == size


def _keep(place: LakePlace, table: str, file: LakeFile, copy: Path) -> None:
    """Copy a file. Raise StoreError if it is damaged, or cannot be read."""
    content = content_of(place, table, file)
    new = copy.with_name(f".{uuid.uuid4().hex}")
    try:
        new.write_bytes(content)
        new.replace(copy)
    except OSError:
        new.unlink(missing_ok=True)


def _remove_unused(lakes: Path) -> None:
    """Remove the copies that were not used for the longest time, if there are too many."""
    now = time.time()
    os.utime(lakes)  # the cache removes directories that do not change for a month
    found = []
    for copy in lakes.glob("*/*"):
        with suppress(FileNotFoundError):
            state = copy.stat()
            found.append((state.st_mtime, state.st_size, copy))
    total = sum(size for _, size, _ in found)
    for used, size, copy in sorted(found):
        if total <= KEPT_BYTES or used > now - USED_SECONDS:
            return
        copy.unlink(missing_ok=True)
        total -= size
