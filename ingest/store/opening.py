"""Opening of the store at a place: a directory or a URL."""

from datetime import datetime
from pathlib import Path

from ingest.store.directory.store import Store
from ingest.store.lake.lake import Lake
from ingest.store.place import is_url
from ingest.store.storage import Storage


def kind_of(place: str | Path) -> type[Storage]:
    """Return the kind of store that a place names."""
    return Lake if is_url(place) else Store


def opened(place: str | Path) -> Storage:
    """Open the store at a place. A directory that does not exist is created.

    Raise StoreError if there is no store at a URL.
    """
    return kind_of(place)(place)


def existing(place: str | Path, as_of: datetime | None = None) -> Storage:
    """Open the store at a place to read it, as it is or, at a URL, as it was at a time.

    Raise StoreError if there is none.
    """
    return kind_of(place).existing(place, as_of)


def created(place: str | Path) -> Storage:
    """Open the store at a place to add to it. It is created if it does not exist."""
    return kind_of(place).created(place)
