"""The tables in a dump of the flight recorder, with errors that name the location of a value."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from ingest.errors import ProfileError
from ingest.formats.flight_recorder.reader import ENTRIES, GROUPS, STATUS
from ingest.formats.pickle.values import kind
from ingest.formats.records import bounded, column, require, typed
from ingest.formats.stacks import Stacks, StacksOfFile

MAX_NUMBERS = 8 << 20  # sizes of all tensors together, which a pickle can share
RANKS = re.compile(r"\[[\d, ]*\]")
NUMBERS = (
    *("record_id", "pg_id", "seq_id", "collective_seq_id", "p2p_seq_id", "op_id", "timeout_ms"),
    *("time_created_ns", "time_discovered_started_ns", "time_discovered_completed_ns"),
)
TEXTS = ("profiling_name", "state", "thread_name", "thread_id")
FLAGS = ("retired", "is_p2p")
SIZES = ("input_sizes", "output_sizes")
DTYPES = ("input_dtypes", "output_dtypes")
KNOWN_ENTRY_KEYS = frozenset(
    {*NUMBERS, *TEXTS, *FLAGS, *SIZES, *DTYPES, "process_group", "duration_ms", "frames"}
)
LAST = ("last_enqueued_collective", "last_started_collective", "last_completed_collective")


def records_of(value: dict[Any, Any], stacks: Stacks) -> pa.Table:
    """Return the recorded calls, in order, with the keys of the file as columns."""
    entries = value.get(ENTRIES) or []
    if type(entries) is not list:
        raise ProfileError(f"{ENTRIES}: {kind(entries)}, not a list")
    require(entries, ("profiling_name",), _entry)
    own = StacksOfFile(stacks)
    columns: dict[str, Any] = {"ordinal": pa.array(range(len(entries)), pa.int64())}
    for keys, type_ in ((NUMBERS, pa.int64()), (TEXTS, pa.string()), (FLAGS, pa.bool_())):
        columns |= {key: column(entries, key, type_, _entry) for key in keys}
    names = [_group_of(entry, _entry(number)) for number, entry in enumerate(entries)]
    columns["group_name"] = typed([name for name, _ in names], "name", pa.string(), _entry)
    columns["group_description"] = typed([desc for _, desc in names], "desc", pa.string(), _entry)
    durations = [entry.get("duration_ms") for entry in entries]
    floats = [float(each) if type(each) is int else each for each in durations]
    columns["duration_ms"] = typed(floats, "duration_ms", pa.float64(), _entry)
    for key in SIZES:
        columns[key] = _sizes(entries, key)
    for key in DTYPES:
        columns[key] = _dtypes(entries, key)
    columns["stack_id"] = pa.array(
        [own.stack_id(each.get("frames"), f"{_entry(i)}.frames") for i, each in enumerate(entries)],
        pa.int32(),
    )
    return pa.table(columns)


def _entry(number: int) -> str:
    return f"{ENTRIES}[{number}]"


def _group_of(entry: dict[Any, Any], location: str) -> tuple[Any, Any]:
    """Return the name and the description of the entry's group. Version 1 has neither."""
    group = entry.get("process_group")
    if group is None or type(group) is str:
        return group, None
    if type(group) in (tuple, list) and len(group) == 2:
        return group[0], group[1]
    raise ProfileError(f"{location}.process_group: {kind(group)}, not a name and a description")


def _sizes(entries: Sequence[dict[Any, Any]], key: str) -> pa.Array:
    numbers = 0
    for index, entry in enumerate(entries):
        sizes = entry.get(key)
        if sizes is None:
            continue
        if type(sizes) is not list or not all(type(shape) is list for shape in sizes):
            raise ProfileError(f"{_entry(index)}.{key}: not a list of lists")
        numbers += len(sizes) + sum(map(len, sizes))
        if numbers > MAX_NUMBERS:
            raise ProfileError(f"{key}: more than {MAX_NUMBERS:,} numbers in all entries together")
    try:
        return pa.array([entry.get(key) for entry in entries], pa.list_(pa.list_(pa.int64())))
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        raise ProfileError(f"{key}: not all sizes are integers: {error}") from error


def _dtypes(entries: Sequence[dict[Any, Any]], key: str) -> pa.Array:
    characters = 0
    for index, entry in enumerate(entries):
        dtypes = entry.get(key)
        if dtypes is None:
            continue
        if type(dtypes) is not list or not all(type(dtype) is str for dtype in dtypes):
            raise ProfileError(f"{_entry(index)}.{key}: not a list of strings")
        characters += sum(map(len, dtypes)) + len(dtypes)
        bounded(characters, key)
    return pa.array([entry.get(key) for entry in entries], pa.list_(pa.string()))


def groups_of(value: dict[Any, Any]) -> pa.Table:
    """Return the groups of the process, with their ranks; gloo records none."""
    rows = []
    for name, group in _dicts(value, GROUPS):
        ranks = group.get("ranks")
        if type(ranks) is str and RANKS.fullmatch(ranks) and len(ranks) <= MAX_NUMBERS:
            ranks = [int(rank[:9]) for rank in re.findall(r"\d+", ranks)]
        if type(ranks) is not list or not all(type(r) is int and 0 <= r < 1 << 31 for r in ranks):
            raise ProfileError(f"{GROUPS}.{name}.ranks: not a list of ranks")
        if name or ranks:
            rows.append({"name": name, "description": group.get("desc"), "ranks": ranks})
    table = pa.table(
        {
            "group_name": typed([row["name"] for row in rows], "name", pa.string(), _group),
            "group_description": column(rows, "description", pa.string(), _group),
            "ranks": pa.array([row["ranks"] for row in rows], pa.list_(pa.int32())),
        }
    )
    return table


def _group(number: int) -> str:
    return f"{GROUPS}[{number}]"


def status_of(value: dict[Any, Any]) -> pa.Table:
    """Return the last collectives of each group, by the number of the group in the process."""
    rows = []
    for number, status in _dicts(value, STATUS):
        last = {key: status.get(key) for key in LAST}
        rows.append({"pg_id": number, **last})  # JSON has numbers as strings
    names = ["pg_id", *LAST]
    columns = {key: [_number(row[key], f"{STATUS}.{key}") for row in rows] for key in names}
    return pa.table({key: typed(columns[key], key, pa.int64(), _status) for key in names})


def _status(number: int) -> str:
    return f"{STATUS}[{number}]"


def _number(value: Any, location: str) -> Any:
    if type(value) is str:
        if not re.fullmatch(r"-?\d{1,19}", value):
            raise ProfileError(f"{location}: not a number")
        return int(value)
    return value


def _dicts(value: dict[Any, Any], key: str) -> Iterator[tuple[Any, dict[Any, Any]]]:
    found = value.get(key) or {}
    if type(found) is not dict:
        raise ProfileError(f"{key}: {kind(found)}, not a dict")
    for name, each in found.items():
        if type(each) is not dict:
            raise ProfileError(f"{key}.{name}: {kind(each)}, not a dict")
        yield name, each
