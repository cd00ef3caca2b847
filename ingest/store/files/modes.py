"""Access modes of a store's files, so that all of its users can read what one of them wrote."""

import stat
from contextlib import suppress
from pathlib import Path

from ingest.errors import StoreError
from ingest.store.files.listing import LISTING
from ingest.store.files.places import RUNS

FILE = 0o666
DIRECTORY = 0o2777  # new files in a directory with 2000 get its group


def share(store: Path, *paths: Path) -> None:
    """Let the users who can read and write the store do so with files and directories in it.

    They are otherwise as the umask of this process made them. What belongs to another user stays
    as it is.
    """
    for path in paths:
        with suppress(OSError):
            is_directory = stat.S_ISDIR(path.lstat().st_mode)
            example, bits = (RUNS, DIRECTORY) if is_directory else (LISTING, FILE)
            path.chmod((store / example).stat().st_mode & bits)


def make_directories(store: Path, *directories: Path) -> None:
    """Create directories in the store unless they exist, for all of its users.

    Raise StoreError if something else has the place of one, such as a link to nothing.
    """
    for directory in directories:
        if not directory.is_dir():
            try:
                directory.mkdir(exist_ok=True)
            except FileExistsError:
                raise StoreError(f"{directory}: not a directory") from None
            share(store, directory)
