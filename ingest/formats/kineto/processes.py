"""Traces that hold several processes, such as the merged ranks of a job.

Correlations, External ids, flows, devices and streams are numbers within a process. So the events
of each process become a source of their own.
"""

import re
from typing import NamedTuple

from ingest.formats.kineto.contents import Contents
from ingest.formats.kineto.metadata import PROCESS
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
OWN_NAME = re.compile(r"(.*): .*", re.DOTALL)  # of an interval of an export; see `_labels` there
OWN_RANK = re.compile(r"(?:.*, )?rank (\d{1,6})(?:, step .*)?", re.DOTALL)
MOVED = re.compile(r"([0-9]{1,15})(?: (.*))?", re.DOTALL)


class _Process(NamedTuple):
    """The process that a pid belongs to: its label and rank, and the pid in its own trace."""

    label: str
    rank: int | None
    pid: str | None


def split(source: Source, staging: Staging, contents: list[Contents]) -> list[Source]:
    """Make each process of a trace a source, and return these, in the order of their labels.

    Processes are known by the label in their ids or names, which also gives their rank. A trace of
    one process, or with activities of a process without a label, stays one source.
    """
    moved = _exported([each for each in contents if each.is_exported])
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
    ranks = _ranks(labels, known)
    if len(labels) == 1:
        recorded = source.metadata.get(PROCESS)
        if not isinstance(recorded, dict) or "rank" not in recorded:
            source.metadata[PROCESS] = _distributed(source, ranks[0])
        return [source]
    parts = [source, *(staging.part_of(source, number) for number in range(1, len(labels)))]
    for part, label, rank in zip(parts, labels, ranks, strict=True):
        part.process = label
        part.metadata = source.metadata | {PROCESS: _distributed(source, rank)}
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
    """Return the process that an id or one of its names states, or None if they state several.

    The first number of a place is the rank in the innermost group, which is the tensor parallel
    one. It is the rank in the job if no other process has it.
    """
    if place := PLACE.fullmatch(pid):
        return _Process(place[1], _first_number(place[1]), place[2] or pid)
    labels: set[str] = set()
    for text in (pid, *names):
        places = [place[1] for place in PLACE.finditer(text)]
        labels.update(places or (f"rank {int(rank)}" for rank in RANK.findall(text)))
    if len(labels) != 1:
        return None
    [label] = labels
    return _Process(label, _first_number(label), pid)


def _first_number(label: str) -> int:
    return int(re.findall(r"\d+", label)[0])


def _exported(exported: list[Contents]) -> dict[int, str]:
    """Return the names of the intervals in an export of several, by their numbers."""
    found: dict[int, str] = {}
    for pid, names, *_ in exported:
        moved = MOVED.fullmatch(pid or "")
        if moved and moved[2] is None and int(moved[1]) % PIDS_PER_RANK == OWN_PID:
            for name in filter(None, map(OWN_NAME.fullmatch, names)):
                found[int(moved[1]) // PIDS_PER_RANK] = name[1]
    return found


def _moved_back(pid: str, moved: dict[int, str]) -> _Process | None:
    """Return the process of an id in an export of several intervals, with its own id, or None."""
    found = MOVED.fullmatch(pid)
    if not moved or not found:
        return None
    if found[2] is not None:
        number, own = int(found[1]), found[2] or None
    else:
        number, own = int(pid) // PIDS_PER_RANK, str(int(pid) % PIDS_PER_RANK)
    if number not in moved:
        return None
    rank = OWN_RANK.fullmatch(moved[number])
    return _Process(f"{number}: {moved[number]}", int(rank[1]) if rank else None, own)


def _ranks(labels: list[str], processes: dict[str, _Process]) -> list[int | None]:
    """Return the rank of each label, or None for all if a rank is unknown or repeated."""
    by_label = {process.label: process.rank for process in processes.values()}
    ranks = [by_label[label] for label in labels]
    return ranks if len({*ranks} - {None}) == len(ranks) else [None] * len(ranks)


def _distributed(source: Source, rank: int | None) -> dict[str, object]:
    recorded = source.metadata.get(PROCESS)
    others = dict(recorded) if isinstance(recorded, dict) else {}
    others.pop("rank", None)  # the rank of one process
    return others if rank is None else others | {"rank": rank}
