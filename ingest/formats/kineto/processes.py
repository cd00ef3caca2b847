"""Traces that hold several processes, such as the merged ranks of a job.

Correlations, External ids, flows, devices and streams are numbers within a process. So the events
of each process become a source of their own.
"""

import re
from typing import NamedTuple

from ingest.formats.kineto.contents import Contents
from ingest.formats.source import Source
from ingest.formats.staging import Staging
from ingest.units import natural_order

# sglang's merger of profiles puts the place of a process before its ids: `[TP01-PP00] 200`.
AXIS = r"(?:tp|dp|pp|ep|cp|sp|rank)\d{1,6}"
PLACE = re.compile(rf"\[({AXIS}(?:-{AXIS})*)\]\s*(\S.*)?", re.IGNORECASE | re.DOTALL)
RANK = re.compile(r"(?<![a-z_])rank[-_ #:=]*(\d{1,6})(?![-\w])", re.IGNORECASE)
MOST = 1_024  # processes of a file; more labels are not those of ranks
# `ingest export` adds a process to each rank, and moves the ids of its others; see `chrome_pid`.
OWN_PID = 9_999_999  # Linux process ids end at 4,194,304
PIDS_PER_RANK = 10_000_000
OWN_RANK = re.compile(r"(?:.*, )?rank (\d{1,6}): .*")
MOVED = re.compile(r"([0-9]{1,15})(?: (.*))?", re.DOTALL)


class _Process(NamedTuple):
    """The label of the process that a pid belongs to, and the pid in that process's own trace."""

    label: str
    pid: str | None


def split(source: Source, staging: Staging, contents: list[Contents]) -> list[Source]:
    """Make each process of a trace a source, and return these, in the order of their labels.

    Processes are known by the label in their ids or names, which also gives their rank. A trace of
    one process, or with activities of a process without a label, stays one source.
    """
    moved = _exported_ranks([each for each in contents if each.is_exported])
    if moved is None:
        return [source]
    processes = {
        each.pid: _moved_back(each.pid, moved) or _labelled(each.pid, each.names)
        for each in contents
        if each.pid is not None
    }
    known = {pid: process for pid, process in processes.items() if process}
    active = {each.pid for each in contents if each.has_activities}
    found = {process.label for pid, process in known.items() if pid in active}
    if not active <= known.keys() or not 0 < len(found) <= MOST:
        return [source]
    labels = sorted(found, key=natural_order)
    ranks = _ranks(labels)
    if len(labels) == 1:
        recorded = source.metadata.get("distributedInfo")
        if not isinstance(recorded, dict) or "rank" not in recorded:
            source.metadata["distributedInfo"] = _distributed(source, ranks[0])
        return [source]
    parts = [source, *(staging.part_of(source) for _ in labels[1:])]
    for part, label, rank in zip(parts, labels, ranks, strict=True):
        part.process = label
        part.metadata = source.metadata | {"distributedInfo": _distributed(source, rank)}
    ids = {label: part.source_id for label, part in zip(labels, parts, strict=True)}
    moves = [(pid, each) for pid, each in known.items() if each.label in ids]
    staging.connection.execute(
        """
        UPDATE staged
        SET
            source_id = moved.source_id,
            event_id = event_id + id_in_run(moved.source_id - $1, 0),
            pid = moved.pid
        FROM (
            SELECT unnest($2) AS recorded_pid, unnest($3) AS pid, unnest($4) AS source_id
        ) AS moved
        WHERE staged.source_id = $1 AND staged.pid = moved.recorded_pid
        """,
        [
            source.source_id,
            [pid for pid, _ in moves],
            [process.pid for _, process in moves],
            [ids[process.label] for _, process in moves],
        ],
    )
    return parts


def _labelled(pid: str, names: list[str]) -> _Process | None:
    """Return the process that an id or one of its names states, or None if they state several."""
    if place := PLACE.fullmatch(pid):
        return _Process(place[1], place[2] or pid)
    labels: set[str] = set()
    for text in (pid, *names):
        places = [place[1] for place in PLACE.finditer(text)]
        labels.update(places or (f"rank {int(rank)}" for rank in RANK.findall(text)))
    return _Process(labels.pop(), pid) if len(labels) == 1 else None


def _exported_ranks(exported: list[Contents]) -> dict[int, str] | None:
    """Return the labels of the ranks in an export of several ranks, by their interval's number.

    Return None if two intervals have the same rank, as in an export of two runs.
    """
    found: dict[int, str] = {}
    for pid, names, *_ in exported:
        moved = MOVED.fullmatch(pid or "")
        if moved and moved[2] is None and int(moved[1]) % PIDS_PER_RANK == OWN_PID:
            for rank in filter(None, map(OWN_RANK.fullmatch, names)):
                found[int(moved[1]) // PIDS_PER_RANK] = f"rank {int(rank[1])}"
    return found if len(set(found.values())) == len(found) else None


def _moved_back(pid: str, moved: dict[int, str]) -> _Process | None:
    """Return the process of an id in an export of several ranks, with its own id, or None."""
    found = MOVED.fullmatch(pid)
    if not moved or not found:
        return None
    if found[2] is not None:
        number, own = int(found[1]), found[2] or None
    else:
        number, own = int(pid) // PIDS_PER_RANK, str(int(pid) % PIDS_PER_RANK)
    return _Process(moved[number], own) if number in moved else None


def _ranks(labels: list[str]) -> list[int | None]:
    """Return the rank of each label, or None for all if two labels have the same first number.

    The first number of a label is the rank in the innermost group, which is the tensor parallel
    one. It is the rank in the job if no other process has it.
    """
    numbers = [int(re.findall(r"\d+", label)[0]) for label in labels]
    return [*numbers] if len(set(numbers)) == len(numbers) else [None] * len(numbers)


def _distributed(source: Source, rank: int | None) -> dict[str, object]:
    recorded = source.metadata.get("distributedInfo")
    others = dict(recorded) if isinstance(recorded, dict) else {}
    others.pop("rank", None)  # the rank of one process
    return others if rank is None else others | {"rank": rank}
