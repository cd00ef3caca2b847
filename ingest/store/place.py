"""The place of a store, as options, arguments and `TRACEHOUSE_STORE` name it.

It is a directory, or the URL of a lake (lake/): file:///directory, or s3://bucket/prefix and gs://
and az:// of the same form.
"""

import os
import re
from pathlib import Path

from ingest.errors import StoreError

URL = re.compile(r"(s3|gs|az|file)://")
SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:/", re.IGNORECASE)  # `pathlib` turns `s3://` into `s3:/`
# Libraries read these in different ways, and what is before an @ may be a secret.
UNCLEAR = re.compile(r"[%?#@\\\s]|/\.{1,2}(/|$)|//")
FORBIDDEN = "[]*?=\\"  # signs in paths that DuckDB would not read as they are
PLACES = "a store is a directory, s3://BUCKET/PREFIX (or gs://, az://) or file:///DIRECTORY"


def is_url(place: str | Path) -> bool:
    """Return whether a place is the URL of a lake."""
    return bool(URL.match(str(place)))


def url_of(place: str) -> str:
    """Return the URL of a lake without a slash at its end.

    Raise StoreError if it is no such URL, or if it contains what libraries do not read alike. The
    message does not repeat a URL that may have a secret.
    """
    scheme, _, path = place.partition("://")
    if UNCLEAR.search(path.rstrip("/")):
        raise StoreError("the URL of a store cannot contain spaces, %, ?, #, @, \\, //, /. or /..")
    is_absolute = path.startswith("/") and path.strip("/")
    if not is_url(place) or (scheme == "file") != bool(is_absolute) or not path.strip("/"):
        raise StoreError(f"{place}: {PLACES}")
    return place.rstrip("/")


def directory_of(place: str | Path) -> Path:
    """Return the absolute path of a store's directory. Raise StoreError if the place is a URL."""
    if is_url(place):
        url = url_of(str(place))
        raise StoreError(
            f"{url}: this works only on a store in a directory; `ingest push` copies its runs to a "
            "URL"
        )
    if SCHEME.match(str(place)):
        raise StoreError(PLACES)
    return Path(place).expanduser().absolute()


def default_store() -> str:
    """Return the place in `TRACEHOUSE_STORE` or, if that is not set, `store`."""
    return os.environ.get("TRACEHOUSE_STORE") or "store"
