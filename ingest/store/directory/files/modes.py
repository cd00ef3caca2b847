"""Access modes of a store's files: all of its users can read what one of them wrote.

Without this, the umask of each process decides.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

from ingest.errors import StoreError
from ingest.store.directory.files.listing import LISTING
from ingest.store.directory.files.places import RUNS

FILE = 0o666
DIRECTORY = 0o2777  # new files in a directory with 2000 get its group


def share(store: Path, *paths: Path) -> None:
    """Set the access mode of files to that of the listing, and of directories to that of `runs`.

    Links, and what belongs to another user, stay as they are.
    """
    for path in paths:
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)  # a link may lead anywhere
            try:
                is_directory = stat.S_ISDIR(os.fstat(descriptor).st_mode)
                example, bits = (RUNS, DIRECTORY) if is_directory else (LISTING, FILE)
                os.fchmod(descriptor, (store / example).stat().st_mode & bits)
            finally:
                os.close(descriptor)


def make_directories(store: Path, *directories: Path) -> None:
    """Create directories in the store, for all of its users, unless they exist.

    Raise StoreError if something else has the place of one, such as a link to nothing.
    """
    for directory in directories:
        if not directory.is_dir():
            try:
                directory.mkdir(exist_ok=True)
            except FileExistsError:
                raise StoreError(f"{directory}: not a directory") from None
            share(store, directory)
