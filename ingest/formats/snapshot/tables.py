"""Conversion of the parts of a memory snapshot, unpickled dicts, to tables."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ingest.errors import ProfileError
from ingest.formats.pickle.handover import Items
from ingest.formats.pickle.values import kind
from ingest.formats.records import as_json, column, others, pools, require, typed
from ingest.formats.snapshot.schemas import (  # fmt: skip
    ANNOTATION_SCHEMA,
    ANNOTATIONS,
    BLOCK_KEYS,
    BLOCK_SCHEMA,
    BLOCKS,
    EVENT_KEYS,
    EVENT_SCHEMA,
    FRAMES,
    HISTORY,
    KNOWN_EVENT_KEYS,
    POOL_KEY,
    POOL_OF_SEGMENT,
    SEGMENT_KEYS,
    SEGMENT_SCHEMA,
    SEGMENTS,
    SETTING_SCHEMA,
    SETTINGS,
    STACK_KEYS,
    TRACES,
)
from ingest.formats.stacks import StacksOfFile

MAX_SETTINGS = 10_000
MAX_SETTING_DEPTH = 16

Ordinals = npt.NDArray[np.int64]


def ordinals_of(parts: list[Items]) -> Ordinals:
    """Return the indices of items in their list."""
    counts = [part.count or len(part.values) for part in parts]
    return np.concatenate(
        [np.arange(part.first, part.first + n) for part, n in zip(parts, counts, strict=True)]
    )


def events_of(
    events: list[Any], device: int, ordinals: Ordinals, stacks: StacksOfFile
) -> pa.RecordBatch:
    """Return events of a device with EVENT_SCHEMA. `ordinals`: their indices in its trace."""

    def location(number: int) -> str:
        return f"{TRACES}[{device}][{ordinals[number]}]"

    require(events, ("action",), location)
    columns: dict[str, Any] = {
        "device": pa.array([device] * len(events), pa.int32()),
        "ordinal": pa.array(ordinals),
        "pool": pools(events, POOL_KEY, location),
        "other": others(events, KNOWN_EVENT_KEYS, location),
    }
    for name, key in EVENT_KEYS.items():
        columns[name] = column(events, key, EVENT_SCHEMA.field(name).type, location)
    for name, key in STACK_KEYS.items():
        columns[name] = stacks_of(events, key, location, stacks)
    if columns["address"].null_count:
        for number, event in enumerate(events):
            if event.get("addr") is None and event["action"] != "oom":
                raise ProfileError(f"{location(number)}: addr is missing")
    return pa.record_batch([columns[name] for name in EVENT_SCHEMA.names], schema=EVENT_SCHEMA)


def completed(columns: dict[str, pa.Array], device: int, ordinals: Ordinals) -> pa.RecordBatch:
    """Return events that were read in bulk with EVENT_SCHEMA. `columns`: their values by key."""
    count = len(ordinals)
    named = {"device": pa.array([device] * count, pa.int32()), "ordinal": pa.array(ordinals)}
    for name, key in (EVENT_KEYS | STACK_KEYS | {"pool": POOL_KEY}).items():
        if key in columns:
            named[name] = columns[key]
    return pa.record_batch(
        [
            named[field.name] if field.name in named else pa.nulls(count, field.type)
            for field in EVENT_SCHEMA
        ],
        schema=EVENT_SCHEMA,
    )


def segments_of(segments: list[Any], stacks: StacksOfFile) -> pa.Table:
    """Return segments with SEGMENT_SCHEMA. Raise ProfileError unless each has a list of blocks."""
    location = partial(at, SEGMENTS)
    require(segments, ("address", "total_size", BLOCKS), location)
    for number, segment in enumerate(segments):
        if type(segment[BLOCKS]) is not list:
            raise ProfileError(f"{location(number)}.{BLOCKS}: {kind(segment[BLOCKS])}, not a list")
    columns = {
        name: column(segments, key, SEGMENT_SCHEMA.field(name).type, location)
        for name, key in SEGMENT_KEYS.items()
    }
    columns["segment_id"] = pa.array(range(len(segments)), pa.int32())
    columns["pool"] = pools(segments, POOL_OF_SEGMENT, location)
    columns["stack_id"] = stacks_of(segments, FRAMES, location, stacks)
    return table(columns, SEGMENT_SCHEMA)


def blocks_of(
    segments: list[Any], blocks: list[Any], devices: pa.ChunkedArray, stacks: StacksOfFile
) -> pa.Table:
    """Return the blocks of all segments with BLOCK_SCHEMA.

    A block without an address begins where the previous one ends.
    """
    counts = [len(segment[BLOCKS]) for segment in segments]
    segment_ids = np.repeat(np.arange(len(segments), dtype=np.int32), counts)
    firsts = np.cumsum([0, *counts])

    def location(number: int) -> str:
        segment = segment_ids[number]
        return f"{SEGMENTS}[{segment}].{BLOCKS}[{number - firsts[segment]}]"

    require(blocks, ("size", "state"), location)
    columns = {
        name: column(blocks, key, BLOCK_SCHEMA.field(name).type, location)
        for name, key in BLOCK_KEYS.items()
    }
    if columns["address"].null_count:
        columns["address"] = typed(list(addresses_of(segments)), "address", pa.uint64(), location)
    columns["segment_id"] = pa.array(segment_ids)
    columns["device"] = devices.take(columns["segment_id"])
    columns["stack_id"] = stacks_of(
        [block if FRAMES in block else (history_of(block) or [block])[0] for block in blocks],
        FRAMES,
        location,
        stacks,
    )
    return table(columns, BLOCK_SCHEMA)


def addresses_of(segments: list[Any]) -> Iterator[int]:
    """Yield the addresses of all blocks. A block without one begins where the previous one ends."""
    for segment in segments:
        follows = segment["address"]
        for block in segment[BLOCKS]:
            address = block.get("address")
            yield follows if address is None else address
            follows += block["size"]


def history_of(block: dict[Any, Any]) -> list[dict[Any, Any]]:
    """Return the history of a block of torch 2.0: dicts with frames. Callers use the first."""
    history = block.get(HISTORY)
    return history if type(history) is list and history and type(history[0]) is dict else []


def annotations_of(annotations: list[Any]) -> pa.Table:
    """Return annotations with ANNOTATION_SCHEMA."""
    location = partial(at, ANNOTATIONS)
    require(annotations, (), location)
    return table(
        {f.name: column(annotations, f.name, f.type, location) for f in ANNOTATION_SCHEMA},
        ANNOTATION_SCHEMA,
    )


def stacks_of(
    records: list[Any], key: str, location: Callable[[int], str], stacks: StacksOfFile
) -> pa.Array:
    """Return the ids of the stacks under a key of each record."""
    lists = [record.get(key) for record in records]
    known: dict[int, int | None] = {}  # by identity: a long list may be shared by many
    for number, frames in enumerate(lists):
        if id(frames) not in known:
            known[id(frames)] = (
                stacks.stack_id(frames, f"{location(number)}.{key}") if frames else None
            )
    return pa.array([known[id(frames)] for frames in lists], pa.int32())


def settings_of(settings: Any) -> pa.Table:
    """Return settings with SETTING_SCHEMA. Nested settings have names with dots."""
    rows: dict[str, str | None] = {}
    if settings is not None and type(settings) is not dict:
        raise ProfileError(f"{SETTINGS}: {kind(settings)}, not a dict")
    within = [("", settings or {})]
    for name, parts in within:
        if len(within) + len(rows) > MAX_SETTINGS or name.count(".") > MAX_SETTING_DEPTH:
            raise ProfileError(
                f"{SETTINGS}: more than {MAX_SETTINGS:,} settings, or nested too deeply"
            )
        for key, value in parts.items():
            named = f"{name}{key}"
            if type(value) is dict:
                within.append((f"{named}.", value))
            elif value is None or type(value) is str:
                rows[named] = value
            else:
                rows[named] = as_json(value, f"{SETTINGS}.{named}")
    return pa.table([list(rows), list(rows.values())], schema=SETTING_SCHEMA)


def at(key: str, number: int) -> str:
    """Return the location of an item in a list: `segments[3]`."""
    return f"{key}[{number}]"


def table(columns: dict[str, pa.Array], schema: pa.Schema) -> pa.Table:
    """Return a table with the columns in the order of the schema."""
    return pa.table([columns[name] for name in schema.names], schema=schema)
