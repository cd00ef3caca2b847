"""Further tracks for events that cross others of their thread or stream.

Viewers of Chrome traces nest the events of a track. They drop an event that begins within another
and outlasts it, such as an annotation that a Python frame opens, or a kernel that begins before the
previous one ends.

This is not SQL, because the track of an event depends on those of all events before it.
"""

from collections.abc import Iterable

import duckdb
import pyarrow as pa

BATCH_ROWS = 1 << 16
MOST_TRACKS = 64  # of a thread or stream; the last has all further events, which may cross


def crossing(
    connection: duckdb.DuckDBPyConnection, spans: str, parameters: dict[str, object]
) -> dict[str, list[int]]:
    """Return the events that do not nest in their thread or stream.

    `spans` is the query of the events, `chrome_spans`, with its `parameters`. `crossing_ids` are
    the ids of these events. `tracks` are the numbers of their tracks, from 2, because the first
    track of a thread or stream has all other events.
    """
    with connection.cursor() as cursor:
        return _crossing(cursor.sql(spans, params=parameters).to_arrow_reader(BATCH_ROWS))


def _crossing(batches: Iterable[pa.RecordBatch]) -> dict[str, list[int]]:
    """Give each span the first track on which it nests.

    The batches have the columns event_id, lane, start_ns and end_ns, ordered by lane, then from
    outermost to innermost.
    """
    found: dict[str, list[int]] = {"crossing_ids": [], "tracks": []}
    current = None
    tracks: list[list[int]] = []  # the ends of the open spans of each track, outermost first
    for batch in batches:
        columns = (column.to_pylist() for column in batch.columns)
        for event_id, lane, start_ns, end_ns in zip(*columns, strict=True):
            if lane != current:
                current, tracks = lane, [[]]
            for track, ends in enumerate(tracks, 1):
                while ends and ends[-1] <= start_ns:
                    ends.pop()
                if not ends or end_ns <= ends[-1] or track == MOST_TRACKS:
                    break
            else:
                ends, track = [], len(tracks) + 1
                tracks.append(ends)
            ends.append(end_ns)
            if track > 1:
                found["crossing_ids"].append(event_id)
                found["tracks"].append(track)
    return found
