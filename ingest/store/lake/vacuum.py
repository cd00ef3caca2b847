"""Deletion of the files of a lake that no version of the last days needs."""

from ingest.store.lake.commits import read_head
from ingest.store.lake.place import LakePlace
from ingest.store.lake.schema import RUNS, kinds_of_tables

KEPT_DAYS = 7


def vacuum(place: LakePlace, days: int = KEPT_DAYS) -> int:
    """Delete files that no version of the last `days` needs. Return their number.

    Readers that opened the lake earlier, and `as_of` times before that, then fail.
    """
    deleted = 0
    with place.reported("write"):
        head = read_head(place)
        for table in kinds_of_tables():
            opened = place.open(table)
            versions = [head.state.versions[table]] if table in head.state.versions else None
            deleted += len(
                opened.vacuum(
                    retention_hours=days * 24,
                    dry_run=False,
                    enforce_retention_duration=False,
                    full=True,
                    keep_versions=versions if table != RUNS else [head.table.version()],
                )
            )
    return deleted
