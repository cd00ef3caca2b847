"""Deletion of the files of a lake that no version of the last days needs."""

from concurrent.futures import ThreadPoolExecutor

from ingest.store.lake.commits import read_head
from ingest.store.lake.place import REQUESTS, LakePlace
from ingest.store.lake.schema import RUNS, kinds_of_tables

KEPT_DAYS = 7


def vacuum(place: LakePlace, days: int = KEPT_DAYS) -> int:
    """Delete files that no version of the last `days` needs. Return their number.

    Readers that opened the lake earlier, and `as_of` times before that, then fail.
    """
    with place.reported("write"):
        head = read_head(place)
        versions = {**head.state.versions, RUNS: int(head.table.version())}
        with ThreadPoolExecutor(REQUESTS) as pool:
            return sum(
                pool.map(
                    lambda table: _vacuum(place, table, days, versions.get(table)),
                    kinds_of_tables(),
                )
            )


def _vacuum(place: LakePlace, table: str, days: int, version: int | None) -> int:
    """Delete files of a table, except those of a version. Return their number."""
    opened = place.open(table)

    def vacuum(dry_run: bool) -> list[str]:
        return opened.vacuum(
            retention_hours=days * 24,
            dry_run=dry_run,
            enforce_retention_duration=False,
            full=True,  # also files that were never committed
            keep_versions=None if version is None else [version],
        )

    # It would commit even if there is nothing to delete.
    return len(vacuum(dry_run=False)) if vacuum(dry_run=True) else 0
