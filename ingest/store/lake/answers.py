"""What the libraries for object storage answer: reads that are cut short, and reasons of errors."""

import re
import time
from collections.abc import Callable
from typing import TypeVar

import duckdb

READS = 5
CUT_SHORT = ("before message length reached", "response body")  # in messages of Delta
CONTROL = re.compile(r"\x1b\[[0-9;]*m")
STORE_ERROR = re.compile(r"exception occurred while executing the UDF: StoreError: (.*)")
PYTHON = re.compile(r"^(\w+\.)*\w+(Error|Exception): ")  # the last line of a traceback
TRACEBACK = "Traceback (most recent call last)"
GONE = "a file is gone; `ingest check` finds it, or a vacuum deleted it: open the store again"

# Parts of the messages of libraries, and their meanings. No path of a file contains them.
REASONS = {
    "//169.254.": "no credentials in the environment",
    "<Code>NoSuchBucket": "no such bucket",
    "The specified bucket does not exist": "no such bucket",
    "ExpiredToken": "the credentials have expired",
    "status code: 403": "access denied",
    "Access Denied": "access denied",
    "NoSuchKey": GONE,
    "The specified key does not exist": GONE,
    "No files found that match": GONE,
    "<Code>PermanentRedirect": "wrong region (AWS_REGION)",
}

T = TypeVar("T")


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


def reason(error: Exception) -> str:
    """Return the reason in an error of a library, in one line."""
    text = CONTROL.sub("", str(error))
    if known := next((meaning for sign, meaning in REASONS.items() if sign in text), None):
        return known
    if isinstance(error, FileNotFoundError):
        return GONE
    lines = [line.strip(" ↳") for line in text.splitlines() if line.strip(" ↳")]
    if not lines:
        return type(error).__name__
    if TRACEBACK in text:  # of Python that DuckDB calls
        return next((PYTHON.sub("", line) for line in lines[::-1] if PYTHON.match(line)), lines[-1])
    return f"{lines[0]}: {lines[-1]}" if "↳" in text else lines[0]


def is_of_storage(error: Exception) -> bool:
    """Return whether an error of DuckDB is about the files of a lake, not about the statement."""
    kinds = duckdb.IOException | duckdb.HTTPException | OSError
    return isinstance(error, kinds) or str(error).startswith(TRACEBACK)


def own_message(error: Exception) -> str | None:
    """Return the message of a StoreError that DuckDB reports as an error of its own, or None."""
    found = STORE_ERROR.search(str(error))
    return found and found[1]
