"""Python frames without a recorded return, which the profiler records to its stop.

Everything that ran later would be inside of them. So they end with the frames that called them.
"""

from typing import NamedTuple

import duckdb

from ingest import sql
from ingest.formats.kineto.contents import Contents
from ingest.formats.source import Source
from ingest.units import counted


class _Frame(NamedTuple):
    """A frame that was open at the stop. Ids are those of the profiler, valid in a process."""

    event_id: int
    pid: str | None
    start_ns: int
    end_ns: int
    python_id: int | None
    caller_id: int | None


def end_open_frames(
    connection: duckdb.DuckDBPyConnection, source: Source, contents: list[Contents]
) -> None:
    """End the open frames of a trace with their callers, and warn of these frames.

    A frame whose caller was open at the stop, too, may have run until then. A caller that ended
    before the frame began is not its caller: a generator is recorded where it was created.
    """
    ends = {each.pid: each.frames_end_ns for each in contents if each.frames_end_ns is not None}
    if not ends:
        return
    of_source = {"source_id": source.source_id}
    found = connection.execute(
        sql.query("open_frames"),
        of_source | {"pids": list(ends), "ends_ns": list(ends.values())},
    ).fetchall()
    frames = [_Frame(*row) for row in found]
    open_ids = {(frame.pid, frame.python_id) for frame in frames}
    closed = {
        frame.caller_id
        for frame in frames
        if frame.caller_id is not None and (frame.pid, frame.caller_id) not in open_ids
    }
    if not closed:
        return
    rows = connection.execute(
        sql.query("frame_ends"), of_source | {"python_ids": list(closed)}
    ).fetchall()
    ends_ns = {(pid, python_id): end_ns for pid, python_id, end_ns in rows}
    ended: dict[int, int] = {}
    for frame in frames:  # callers first
        if frame.caller_id is None:
            continue
        end_ns = ends_ns.get((frame.pid, frame.caller_id), frame.end_ns)
        if frame.start_ns < end_ns < frame.end_ns:
            ended[frame.event_id] = end_ns
            if frame.python_id is not None:
                ends_ns[frame.pid, frame.python_id] = end_ns
    if ended:
        connection.execute(
            sql.query("end_open_frames"),
            {"event_ids": list(ended), "ends_ns": list(ended.values())},
        )
        source.warn(
            "frames_without_return",
            f"no return is recorded for {counted(len(ended), 'Python frame')}: they end with "
            "their callers",
        )
