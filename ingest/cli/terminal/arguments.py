"""Arguments and options that several commands share."""

from datetime import datetime
from typing import Annotated

import typer

from ingest.errors import StoreError
from ingest.store.directory.store import Store
from ingest.store.lake.lake import Lake
from ingest.store.opening import created, existing
from ingest.store.place import default_store, is_url
from ingest.store.storage import Storage

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store", metavar="DIR|URL", help="The store. Default: TRACEHOUSE_STORE, or ./store."
    ),
]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Let a Dask cluster do the work: tcp://HOST:PORT, or local:N for N processes.",
    ),
]
RunArgument = Annotated[
    str, typer.Argument(help="A run's id, the beginning of its id, or its name.")
]


def check_workers(jobs: int, cluster: str | None) -> None:
    """Raise BadParameter if both processes and a cluster are to do the work."""
    if cluster and jobs > 1:
        raise typer.BadParameter("give either --jobs or --cluster")


def open_store(place: str | None, as_of: datetime | None = None) -> Storage:
    """Open a store to read it, or the default store. Raise StoreError if it does not exist.

    Only `ingest add`, `ingest push` and `ingest pull` create a store. A time `as_of` without a zone
    is local.
    """
    return existing(place or default_store(), as_of and as_of.astimezone())


def create_store(place: str | None) -> Storage:
    """Open a store to add to it, or the default store. It is created if it does not exist."""
    return created(place or default_store())


def open_lake(place: str | None) -> Lake:
    """Open a store at a URL. Raise StoreError if the store is in a directory."""
    place = place or default_store()
    if not is_url(place):
        raise StoreError(f"{place}: this works only on a store at a URL")
    return Lake.existing(place)


def open_directory(place: str | None) -> Store:
    """Open a store in a directory, to change it. Raise StoreError if there is none."""
    return Store.existing(place or default_store())
