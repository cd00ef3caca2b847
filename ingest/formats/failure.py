"""Exceptions that files cause, and the sentences about files that cannot be loaded."""

from pathlib import Path

import duckdb

from ingest.disk import cause
from ingest.errors import IngestError, ProfileError

LONGEST = 300  # characters of an exception's text, which may contain a whole value of the file
INTERRUPTED = "Query interrupted"  # the text of DuckDB's RuntimeError after Ctrl-C
REPORT = 'this is a bug; please report it ("Reporting a bug" in docs/troubleshooting.md)'


def is_of_a_file(error: Exception, file: Path | None = None) -> bool:
    """Return whether the content of a file, such as of `file`, may be the cause of an exception.

    It is not if memory or the disk is full, after Ctrl-C, or if a setting is wrong.
    """
    if isinstance(error, IngestError):
        return isinstance(error, ProfileError)
    if isinstance(error, OSError) and file and error.filename == str(file):
        return True
    is_interrupt = isinstance(error, duckdb.InterruptException) or str(error) == INTERRUPTED
    return not (is_interrupt or isinstance(error, MemoryError) or cause(error))


def sentence(path: Path, error: Exception) -> str:
    """Return why the file at `path` cannot be loaded, in one line that begins with its path."""
    if isinstance(error, ProfileError):
        return str(error)
    if isinstance(error, duckdb.OutOfMemoryException):
        return f"{path}: loading it needs more memory than the database may use"
    lines = str(error).strip().splitlines()
    text = f": {lines[0]}" if lines else ""
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}…"
    return f"{path}: cannot be loaded, {type(error).__name__}{text}: {REPORT}"
