"""Arguments and options that several commands share."""

from datetime import datetime
from typing import Annotated

import typer

from ingest.errors import StoreError
from ingest.store.connection import AnyStore, create_place, open_place
from ingest.store.lake.lake import Lake
from ingest.store.place import default_store
from ingest.store.store import Store, existing

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store", metavar="DIR|URL", help="The store. Default: TRACEHOUSE_STORE, or ./store."
    ),
]
RunArgument = Annotated[
    str, typer.Argument(help="A run's id, the beginning of its id, or its name.")
]


def open_store(place: str | None, as_of: datetime | None = None) -> AnyStore:
    """Open a store to read it, or the default store. Raise StoreError if it does not exist.

    Only `ingest add`, `ingest push` and `ingest pull` create a store. A time `as_of` without a zone
    is local.
    """
    return open_place(place or default_store(), as_of and as_of.astimezone())


def create_store(place: str | None) -> AnyStore:
    """Open a store to add to it, or the default store. It is created if it does not exist."""
    return create_place(place or default_store())


def open_lake(place: str | None) -> Lake:
    """Open a store at a URL. Raise StoreError if the store is in a directory."""
    opened = open_store(place)
    if not isinstance(opened, Lake):
        raise StoreError(f"{opened.path}: this works only on a store at a URL")
    return opened


def open_directory(place: str | None) -> Store:
    """Open a store in a directory, to change it. Raise StoreError if there is none."""
    return existing(place or default_store())
