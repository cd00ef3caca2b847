"""Arguments that commands of `ingest` share, and the opening of the store."""

from pathlib import Path
from typing import Annotated

import typer

from ingest.store.store import Store, default_store, existing

StoreOption = Annotated[
    Path | None,
    typer.Option("--store", help="The store. Default: TRACEHOUSE_STORE, or ./store."),
]
RunArgument = Annotated[
    str, typer.Argument(help="A run's id, the beginning of its id, or its name.")
]


def open_store(path: Path | None) -> Store:
    """Open the store at `path`, or the default store. Raise StoreError if it does not exist.

    Only `ingest add` creates a store.
    """
    return existing(path or default_store())
