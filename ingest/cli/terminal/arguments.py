"""Arguments and options that several commands share."""

from typing import Annotated

import typer

from ingest.store.connection import AnyStore, open_place
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


def open_store(place: str | None) -> AnyStore:
    """Open a store to read it, or the default store. Raise StoreError if it does not exist.

    Only `ingest add` and `ingest push` create a store.
    """
    return open_place(place or default_store())


def open_directory(place: str | None) -> Store:
    """Open a store in a directory, to change it. Raise StoreError if there is none."""
    return existing(place or default_store())
