"""Directories that depend only on tracehouse's version, cached for each user.

$XDG_CACHE_HOME/tracehouse/<version>-<name>/     `~/.cache` if the variable is not set
"""

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from ingest.temporary import temporary_directory

FILES = "files.json"  # the sizes of the other files
UNUSED_DAYS = 30


def cache_directory() -> Path:
    """Return the directory of the user's caches. Their content can be made or fetched again."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(home) / "tracehouse"


@contextmanager
def cached(name: str, version: str, write: Callable[[Path], None]) -> Iterator[Path]:
    """Yield a directory that `write` filled, now or earlier.

    Its content must depend on nothing but `version`. If the user has no writable cache, the
    directory exists only in the `with` block.
    """
    directory = cache_directory() / f"{version}-{name}"
    if _is_intact(directory):
        with suppress(OSError):
            os.utime(directory)
        yield directory
        return
    with temporary_directory() as temporary:
        new = temporary / name
        new.mkdir()
        write(new)
        (new / FILES).write_text(json.dumps(_sizes(new)), encoding="utf-8")
        with suppress(OSError):  # no home directory, or a full disk
            _add_to_cache(new, directory)
        yield new


def _add_to_cache(new: Path, directory: Path) -> None:
    """Copy a directory into the cache atomically, and remove cached directories not used lately."""
    if _is_intact(directory):  # another process was faster
        return
    cache = directory.parent
    cache.mkdir(parents=True, exist_ok=True)
    for path in cache.iterdir():
        if path.stat().st_mtime < time.time() - UNUSED_DAYS * 86_400:
            shutil.rmtree(path, ignore_errors=True)
    with TemporaryDirectory(prefix=".new-", dir=cache) as temporary:
        shutil.copytree(new, Path(temporary) / "new")
        with suppress(FileNotFoundError):
            directory.rename(Path(temporary) / "damaged")
        (Path(temporary) / "new").rename(directory)


def _is_intact(directory: Path) -> bool:
    """Return whether all files have their sizes. Users and power cuts may truncate caches."""
    try:
        return bool(_sizes(directory) == json.loads((directory / FILES).read_text("utf-8")))
    except (OSError, ValueError):
        return False


def _sizes(directory: Path) -> dict[str, int]:
    files = sorted(path for path in directory.rglob("*") if path.is_file() and path.name != FILES)
    return {str(file.relative_to(directory)): file.stat().st_size for file in files}
