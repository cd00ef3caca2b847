"""The system's reasons why a file cannot be written, such as a full disk."""

import errno
import os
from pathlib import Path

import duckdb

CAUSES = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EXDEV),
    *(errno.EFBIG, errno.EIO, errno.ESTALE),
)


def cause(error: Exception, directory: Path | None = None) -> str | None:
    """Return the system's reason why a file could not be written, or None for other errors.

    An error about files outside `directory` is another error.
    """
    if isinstance(error, OSError):
        files = [Path(file) for file in (error.filename, error.filename2) if file]
        elsewhere = directory and files and not any(f.is_relative_to(directory) for f in files)
        return None if elsewhere or error.errno not in CAUSES else error.strerror
    if not isinstance(error, duckdb.Error):
        return None
    if is_full(error):
        return os.strerror(errno.ENOSPC)
    return next((os.strerror(code) for code in CAUSES if os.strerror(code) in str(error)), None)


def is_full(error: duckdb.Error) -> bool:
    """Return whether DuckDB failed because a disk is full."""
    # The default of this setting is the free space of the disk.
    texts = (os.strerror(errno.ENOSPC), "max_temp_directory_size")
    return any(text in str(error) for text in texts)
