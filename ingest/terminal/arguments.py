"""What the commands of `ingest` have in common: their arguments, and opening the store."""

from pathlib import Path
from typing import Annotated

import typer

from ingest.store.store import Store, default_store, existing

StoreOption = Annotated[
    Path | None,
    typer.Option("--store", help="The store; else TRACEHOUSE_STORE, else ./store."),
]
RunArgument = Annotated[str, typer.Argument(help="A run's id, its beginning, or its name.")]


def open_store(path: Path | None) -> Store:
    """The store to work on: only `add` makes one. Raises StoreError where there is none."""
    return existing(path or default_store())
