"""The parts of a memory snapshot, dicts as they were unpickled, as tables."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ingest.errors import ProfileError
from ingest.formats.snapshot.pickle.handover import Items
from ingest.formats.snapshot.pickle.machine import kind
from ingest.formats.snapshot.records import as_json, column, others, pools, require, typed
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
from ingest.formats.snapshot.stacks import StacksOfFile

MAX_SETTINGS = 10_000
MAX_SETTING_DEPTH = 16

Ordinals = npt.NDArray[np.int64]


def ordinals_of(parts: list[Items]) -> Ordinals:
    """The places of items in their list."""
    counts = [part.count or len(part.values) for part in parts]
    return np.concatenate(
        [np.arange(part.first, part.first + n) for part, n in zip(parts, counts, strict=True)]
    )


def events_of(
    events: list[Any], device: int, ordinals: Ordinals, stacks: StacksOfFile
) -> pa.RecordBatch:
    """EVENT_SCHEMA of events of a device, of those ordinals."""

    def place(number: int) -> str:
        return f"{TRACES}[{device}][{ordinals[number]}]"

    require(events, ("action",), place)
    columns: dict[str, Any] = {
        "device": pa.array([device] * len(events), pa.int32()),
        "ordinal": pa.array(ordinals),
        "pool": pools(events, POOL_KEY, place),
        "other": others(events, KNOWN_EVENT_KEYS, place),
    }
    for name, key in EVENT_KEYS.items():
        columns[name] = column(events, key, EVENT_SCHEMA.field(name).type, place)
    for name, key in STACK_KEYS.items():
        columns[name] = stacks_of(events, key, place, stacks)
    if columns["address"].null_count:
        for number, event in enumerate(events):
            if event.get("addr") is None and event["action"] != "oom":
                raise ProfileError(f"{place(number)}: no addr")
    return pa.record_batch([columns[name] for name in EVENT_SCHEMA.names], schema=EVENT_SCHEMA)


def completed(columns: dict[str, pa.Array], device: int, ordinals: Ordinals) -> pa.RecordBatch:
    """EVENT_SCHEMA of events that were read by the lane, with columns by their keys."""
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
    """SEGMENT_SCHEMA of segments, each of which has a list of blocks."""
    place = partial(at, SEGMENTS)
    require(segments, ("address", "total_size", BLOCKS), place)
    for number, segment in enumerate(segments):
        if type(segment[BLOCKS]) is not list:
            raise ProfileError(f"{place(number)}.{BLOCKS}: {kind(segment[BLOCKS])}, not a list")
    columns = {
        name: column(segments, key, SEGMENT_SCHEMA.field(name).type, place)
        for name, key in SEGMENT_KEYS.items()
    }
    columns["segment_id"] = pa.array(range(len(segments)), pa.int32())
    columns["pool"] = pools(segments, POOL_OF_SEGMENT, place)
    columns["stack_id"] = stacks_of(segments, FRAMES, place, stacks)
    return table(columns, SEGMENT_SCHEMA)


def blocks_of(
    segments: list[Any], blocks: list[Any], devices: pa.ChunkedArray, stacks: StacksOfFile
) -> pa.Table:
    """BLOCK_SCHEMA of the blocks of all segments; a block without an address follows the last."""
    counts = [len(segment[BLOCKS]) for segment in segments]
    segment_ids = np.repeat(np.arange(len(segments), dtype=np.int32), counts)
    firsts = np.cumsum([0, *counts])

    def place(number: int) -> str:
        segment = segment_ids[number]
        return f"{SEGMENTS}[{segment}].{BLOCKS}[{number - firsts[segment]}]"

    require(blocks, ("size", "state"), place)
    columns = {
        name: column(blocks, key, BLOCK_SCHEMA.field(name).type, place)
        for name, key in BLOCK_KEYS.items()
    }
    if columns["address"].null_count:
        columns["address"] = typed(list(addresses_of(segments)), "address", pa.uint64(), place)
    columns["segment_id"] = pa.array(segment_ids)
    columns["device"] = devices.take(columns["segment_id"])
    columns["stack_id"] = stacks_of(
        [block if FRAMES in block else (history_of(block) or [block])[0] for block in blocks],
        FRAMES,
        place,
        stacks,
    )
    return table(columns, BLOCK_SCHEMA)


def addresses_of(segments: list[Any]) -> Iterator[int]:
    """The addresses of all blocks, which lie side by side where they do not say."""
    for segment in segments:
        follows = segment["address"]
        for block in segment[BLOCKS]:
            address = block.get("address")
            yield follows if address is None else address
            follows += block["size"]


def history_of(block: dict[Any, Any]) -> list[dict[Any, Any]]:
    """What a block of torch 2.0 was used for: dicts with its frames, the first of which counts."""
    history = block.get(HISTORY)
    return history if type(history) is list and history and type(history[0]) is dict else []


def annotations_of(annotations: list[Any]) -> pa.Table:
    """ANNOTATION_SCHEMA."""
    place = partial(at, ANNOTATIONS)
    require(annotations, (), place)
    return table(
        {f.name: column(annotations, f.name, f.type, place) for f in ANNOTATION_SCHEMA},
        ANNOTATION_SCHEMA,
    )


def stacks_of(
    records: list[Any], key: str, place: Callable[[int], str], stacks: StacksOfFile
) -> pa.Array:
    """The ids of the stacks under a key of each record."""
    lists = [record.get(key) for record in records]
    known: dict[int, int | None] = {}  # by identity: a long list may be shared by many
    for number, frames in enumerate(lists):
        if id(frames) not in known:
            known[id(frames)] = (
                stacks.stack_id(frames, f"{place(number)}.{key}") if frames else None
            )
    return pa.array([known[id(frames)] for frames in lists], pa.int32())


def settings_of(settings: Any) -> pa.Table:
    """SETTING_SCHEMA; settings inside of settings are named with dots."""
    rows: dict[str, str | None] = {}
    if settings is not None and type(settings) is not dict:
        raise ProfileError(f"{SETTINGS}: {kind(settings)}, not a dict")
    within = [("", settings or {})]
    for name, parts in within:
        if len(within) + len(rows) > MAX_SETTINGS or name.count(".") > MAX_SETTING_DEPTH:
            raise ProfileError(f"{SETTINGS}: too many settings, or nested too deep")
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
    return f"{key}[{number}]"


def table(columns: dict[str, pa.Array], schema: pa.Schema) -> pa.Table:
    return pa.table([columns[name] for name in schema.names], schema=schema)
