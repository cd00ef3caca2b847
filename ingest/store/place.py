"""The place of a store, as options, arguments and `TRACEHOUSE_STORE` name it.

It is a directory, or the URL of a lake (lake/): s3://bucket/prefix or file:///directory.
"""

import os
import re
from pathlib import Path

from ingest.errors import StoreError

URL = re.compile(r"(s3|file)://.")
SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:/")  # `pathlib` turns `s3://` into `s3:/`


def is_url(place: str | Path) -> bool:
    """Return whether a place is the URL of a lake."""
    return bool(URL.match(str(place)))


def directory_of(place: str | Path) -> Path:
    """Return the absolute path of a store's directory. Raise StoreError if the place is a URL."""
    if is_url(place):
        raise StoreError(
            f"{place}: this works only on a store in a directory; `ingest push` copies its runs "
            "to a URL"
        )
    if SCHEME.match(str(place)):
        raise StoreError(f"{place}: a store is a directory, or a URL with s3:// or file://")
    return Path(place).expanduser().absolute()


def default_store() -> str:
    """Return the place in `TRACEHOUSE_STORE` or, if that is not set, `store`."""
    return os.environ.get("TRACEHOUSE_STORE") or "store"
