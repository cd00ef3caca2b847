"""Loading of memory timelines into the scratch database."""

import pyarrow as pa

from ingest.formats.memory_timeline.reader import read_memory_timeline
from ingest.formats.source import Source
from ingest.formats.staging import Progress, Staging


def load(source: Source, staging: Staging, progress: Progress) -> None:
    """Read a memory timeline into table `staged_actions`, and count its actions.

    Raise ProfileError if the file is not a memory timeline.
    """
    actions, source.json_bytes = read_memory_timeline(source.path, progress)
    source.events = len(actions)
    staging.insert(
        "staged_actions",
        actions.append_column("ordinal", pa.array(range(len(actions)), pa.int64())),
        f"*, id_in_run({source.source_id}, ordinal) AS action_id, "
        "'timeline' AS origin, 'unknown' AS device_label, abs(change_bytes) AS bytes, "
        f"{source.source_id} AS source_id",
    )
