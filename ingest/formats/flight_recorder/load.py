"""Loading of dumps of the flight recorder into the scratch database."""

from ingest.errors import ProfileError
from ingest.formats.flight_recorder.reader import ENTRIES, read_dump, versions_of
from ingest.formats.flight_recorder.tables import (  # fmt: skip
    KNOWN_ENTRY_KEYS,
    groups_of,
    records_of,
    status_of,
)
from ingest.formats.records import unread
from ingest.formats.source import MAX_RANKS, Source
from ingest.formats.stacks import Stacks
from ingest.formats.staging import Progress, Staging

DEFAULT_GROUP = "default_pg"  # torch's description of the group of all ranks


def load(source: Source, staging: Staging, progress: Progress) -> None:
    """Read a dump into the staged tables, and fill in the attributes of `source`.

    The dump shares its stacks with the other files of the run. Raise ProfileError if it is damaged.
    """
    stacks = staging.shared(Stacks)
    dump = read_dump(source.path, progress)
    try:
        records, groups = records_of(dump.value, stacks), groups_of(dump.value)
        status = status_of(dump.value)
    except ProfileError as error:
        raise ProfileError(f"{source.path}: {error}") from None
    entries = dump.value.get(ENTRIES) or []
    source.coded_warnings += dump.warnings + unread("collectives have", entries, KNOWN_ENTRY_KEYS)
    source.json_bytes, source.events = dump.bytes, len(records)
    own = f"*, {source.source_id} AS source_id"
    for table, rows in (
        ("staged_flight_records", records),
        ("staged_flight_groups", groups),
        ("staged_flight_status", status),
    ):
        staging.insert(table, rows, own)
    version, library_version = versions_of(dump.value)
    staging.connection.execute(
        "INSERT INTO staged_flight_dumps VALUES ($1, $2, $3)",
        [source.source_id, version, library_version],
    )
    for group in groups.to_pylist():
        if group["group_description"] == DEFAULT_GROUP and len(group["ranks"]) <= MAX_RANKS:
            source.world_size = len(group["ranks"])
    new_frames, new_stacks = stacks.new_tables()
    staging.insert("staged_frames", new_frames, own)
    staging.insert("staged_stacks", new_stacks)
