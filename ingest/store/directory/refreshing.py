"""Finding the runs of a store, and updating what is derived from their listing."""

from collections.abc import Container
from contextlib import suppress
from pathlib import Path

from ingest.errors import StoreError
from ingest.store.directory.changes.change import changing
from ingest.store.directory.changes.commits import is_published
from ingest.store.directory.changes.deletion import deletable, delete_unused
from ingest.store.directory.changes.inventory import found
from ingest.store.directory.derived.index import is_indexed
from ingest.store.directory.files.listing import Listing, read_listing
from ingest.store.directory.files.locking import locked, writing
from ingest.store.directory.files.revisions import are_marked
from ingest.store.directory.reading.visible import keep_visible, stored_listing, visible_listing


def refreshed(store: Path, suspects: Container[str], is_index_suspect: bool) -> Listing:
    """Return the runs of a store as this process sees them, as `Store.refresh` does."""
    before = visible_listing(store)
    listing = found(store, before, suspects)
    known = stored_listing(store)
    stored = listing.for_all_users(known)
    is_current = (
        before is not None
        and before.for_all_users(known) == stored
        and not is_index_suspect
        and is_indexed(store, stored)
        and is_published(store, stored)
        and are_marked(store, listing)
    )
    if not is_current:
        try:
            with writing(store) as work, changing(store, work) as change:
                change.update(suspects, is_index_suspect)
                denied = (run for run in listing.denied() if change.listing.has(run.directory))
                listing = change.listing.with_runs(*denied)
        except StoreError:
            listing = found(store, before, suspects)  # runs may have moved
            keep_visible(store, listing)
    elif deletable(store, listing):
        with suppress(StoreError, OSError), locked(store) as is_locked:
            if now := read_listing(store):
                delete_unused(store, now, is_locked)
    if listing.denied() and visible_listing(store) != listing:
        keep_visible(store, listing)
    return listing
