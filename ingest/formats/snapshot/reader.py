"""Reading of the pickle that `torch.cuda.memory._dump_snapshot()` writes, as columns."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ingest.errors import ProfileError
from ingest.formats.pickle.handover import Items
from ingest.formats.pickle.machine import PickleStream
from ingest.formats.pickle.values import kind
from ingest.formats.records import unread
from ingest.formats.snapshot.bulk_reader import BulkEventReader
from ingest.formats.snapshot.schemas import (  # fmt: skip
    ANNOTATION_SCHEMA,
    ANNOTATIONS,
    BLOCK_SCHEMA,
    BLOCKS,
    KNOWN_BLOCK_KEYS,
    KNOWN_KEYS,
    KNOWN_SEGMENT_KEYS,
    SEGMENT_SCHEMA,
    SEGMENTS,
    SETTING_SCHEMA,
    SETTINGS,
    TRACES,
)
from ingest.formats.snapshot.tables import (  # fmt: skip
    annotations_of,
    blocks_of,
    completed,
    events_of,
    history_of,
    ordinals_of,
    segments_of,
    settings_of,
)
from ingest.formats.source import SourceWarning
from ingest.formats.stacks import Stacks, StacksOfFile
from ingest.units import counted

ROWS_AT_ONCE = 65_536
WEIGHT_OF_DICTS = 8  # memory of an event as a dict, divided by its memory in columns


class MemorySnapshot:
    """Reader of a snapshot, in one pass. The attributes are complete once `events()` is exhausted.

    `segments`, `blocks`, `annotations`, `settings`: tables of the schemas in `schemas.py`.
    `warnings`: warnings about the file. `pickle_bytes`: size of the decompressed pickle.
    `stacks`: receives the call stacks. `progress`: called with the bytes of the file on disk read
    so far.
    """

    def __init__(
        self, path: Path, stacks: Stacks, progress: Callable[[int], None] | None = None
    ) -> None:
        self.path = path
        self.segments = SEGMENT_SCHEMA.empty_table()
        self.blocks = BLOCK_SCHEMA.empty_table()
        self.annotations = ANNOTATION_SCHEMA.empty_table()
        self.settings = SETTING_SCHEMA.empty_table()
        self.warnings: list[SourceWarning] = []
        self._stacks = StacksOfFile(stacks)
        self._bulk_reader = BulkEventReader(self._stacks)
        self._stream = PickleStream(path, TRACES, self._bulk_reader, progress)

    @property
    def pickle_bytes(self) -> int:
        """Bytes of the decompressed pickle read so far."""
        return self._stream.read_bytes

    def events(self) -> Iterator[pa.RecordBatch]:
        """Yield the events of all devices, with EVENT_SCHEMA. Those of a device are in order.

        Raise ProfileError, with the position in the file, if it is not a memory snapshot.
        """
        try:
            yield from self._batches()
            self._take(self._stream.value)
        except ProfileError as error:
            named = str(error).startswith(f"{self.path}: ")
            raise error if named else ProfileError(f"{self.path}: {error}") from None
        self.warnings += self._stream.warnings

    def _batches(self) -> Iterator[pa.RecordBatch]:
        waiting: list[Items] = []
        rows = 0
        for items in self._stream.items():
            if waiting and (items.index != waiting[0].index or rows >= ROWS_AT_ONCE):
                yield self._batch(waiting)
                waiting, rows = [], 0
            if items.values or items.columns:
                waiting.append(items)
                rows += items.count or WEIGHT_OF_DICTS * len(items.values)
        if waiting:
            yield self._batch(waiting)

    def _batch(self, parts: list[Items]) -> pa.RecordBatch:
        """Merge a device's events, read one by one and in bulk, in the order of the trace."""
        device = parts[0].index
        plain = [part for part in parts if part.columns is None]
        runs = [part for part in parts if part.columns is not None]
        batches, ordinals = [], []
        if plain:
            events = [event for part in plain for event in part.values]
            ordinals.append(ordinals_of(plain))
            batches.append(events_of(events, device, ordinals[-1], self._stacks))
        if runs:
            columns = self._bulk_reader.arrays(
                [part.columns for part in runs], [part.count for part in runs]
            )
            ordinals.append(ordinals_of(runs))
            batches.append(completed(columns, device, ordinals[-1]))
        if len(batches) == 1:
            return batches[0]
        merged = pa.Table.from_batches(batches).combine_chunks()
        [batch] = merged.take(
            pa.array(np.argsort(np.concatenate(ordinals), kind="stable"))
        ).to_batches()
        return batch

    def _take(self, value: Any) -> None:
        """Read everything except the events from the value of the pickle."""
        if type(value) is list and not any(map(_holds_snapshot, value)):
            value = {SEGMENTS: value}
        if type(value) is dict and value and all(type(key) is int for key in value):
            raise ProfileError(
                "annotations of the kernels in CUDA graphs (`get_kernel_annotations`), which "
                "tracehouse does not read yet; `python -m torch.cuda._annotate_cuda_graph_trace` "
                "adds them to a trace"
            )
        if type(value) is not dict or not {SEGMENTS, TRACES} & value.keys():
            raise ProfileError(_why_not(value))
        for number, trace in enumerate(listed(value, TRACES)):
            if type(trace) is not list:
                raise ProfileError(f"{TRACES}[{number}]: {kind(trace)}, not a list")
        segments, annotations = listed(value, SEGMENTS), listed(value, ANNOTATIONS)
        self.segments = segments_of(segments, self._stacks)
        blocks = [block for segment in segments for block in segment[BLOCKS]]
        self.blocks = blocks_of(segments, blocks, self.segments["device"], self._stacks)
        self.annotations = annotations_of(annotations)
        self.settings = settings_of(value.get(SETTINGS))
        self.warnings += unread("the snapshot has", [value], KNOWN_KEYS)
        self.warnings += unread(f"{SEGMENTS} have", segments, KNOWN_SEGMENT_KEYS)
        self.warnings += unread(f"{BLOCKS} have", blocks, KNOWN_BLOCK_KEYS)
        self.warnings += unread(
            f"{ANNOTATIONS} have", annotations, frozenset(ANNOTATION_SCHEMA.names)
        )
        if past := sum(len(found) - 1 for block in blocks if (found := history_of(block))):
            allocations = counted(past, "earlier allocation")
            message = f"{allocations} in the history of blocks not read"
            self.warnings.append(SourceWarning("block_history_not_read", message))


def _holds_snapshot(value: Any) -> bool:
    """Return whether a value is not a snapshot, but has one under a key."""
    return (
        type(value) is dict
        and not {SEGMENTS, TRACES} & value.keys()
        and any(type(each) is dict and {SEGMENTS, TRACES} & each.keys() for each in value.values())
    )


def _why_not(value: Any) -> str:
    """Return why a value is not a snapshot, with the keys that it has."""
    why = f"not a memory snapshot: it has neither {SEGMENTS} nor {TRACES}"
    items = value if type(value) is list else [value]
    keys = dict.fromkeys(str(key)[:40] for each in items if type(each) is dict for key in each)
    if keys:
        why += f", but the keys {', '.join([*keys][:10])}"
    if any(map(_holds_snapshot, items)):
        why += "; write the snapshot under such a key with `pickle.dump` into a file of its own"
    return why


def listed(value: dict[Any, Any], key: str) -> list[Any]:
    """Return the list under a key of the snapshot, or an empty list if the key is missing."""
    found = value.get(key)
    if found is not None and type(found) is not list:
        raise ProfileError(f"{key}: {kind(found)}, not a list")
    return found or []
