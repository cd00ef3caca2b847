"""Deletion of the files of a lake that no version of the last days needs."""

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

from ingest.errors import StoreError
from ingest.store.lake.head import read_versions
from ingest.store.lake.place import REQUESTS, LakePlace
from ingest.store.lake.schema import kinds_of_tables

KEPT_DAYS = 7
MOST_SKEW = timedelta(minutes=15)  # S3 refuses requests from machines with more


def vacuum(place: LakePlace, days: int = KEPT_DAYS) -> int:
    """Delete files that no version of the last `days` needs. Return their number.

    Readers that opened the lake earlier, and `as_of` times before that, then fail. Raise StoreError
    if the clock of this machine is wrong: it decides which files are old.
    """
    with place.reported("write"):
        now = datetime.now(UTC)
        if abs(now - place.now()) > MOST_SKEW:
            raise StoreError(f"{place.url}: this machine's clock differs from the storage's")
        since = now - timedelta(days=days)
        kept = read_versions(place, since)
        with ThreadPoolExecutor(REQUESTS) as pool:
            tables = kinds_of_tables()
            return sum(pool.map(lambda table: _vacuum(place, table, days, kept[table]), tables))


def _vacuum(place: LakePlace, table: str, days: int, kept: Collection[int]) -> int:
    """Delete files of a table, except those of the versions `kept`. Return their number."""
    opened = place.open(table)

    def vacuum(dry_run: bool) -> list[str]:
        return opened.vacuum(
            retention_hours=days * 24,
            dry_run=dry_run,
            enforce_retention_duration=False,
            full=True,  # also files that were never committed
            keep_versions=sorted(kept),
        )

    # It would commit even if there is nothing to delete.
    return len(vacuum(dry_run=False)) if vacuum(dry_run=True) else 0
