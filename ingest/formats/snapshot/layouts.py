"""Layouts of pickled events: the first bytes, and the keys in their order."""

from typing import Any

import numpy as np

from ingest.formats.pickle.opcodes import MEMOIZE, SETITEMS
from ingest.formats.snapshot.bulk_decoder import BulkDecoder, Integers, Values

INTEGERS = ("addr", "size", "stream", "time_us", "device_free")
TEXTS = ("action", "compile_context", "user_metadata", "category")
LISTS = ("frames", "forward_frames")
POOL = "pool_id"
NEEDED = {"action", "addr"}
PREFIXES = (b"}\x94(", b"}(")

Layout = tuple[bytes, tuple[tuple[bytes, str], ...]]  # first bytes; bytes and name of each key


def layout_of(item: bytes, memo: list[Any]) -> Layout | None:
    """Return the layout of an event, or None if its keys or values are unexpected."""
    prefix = next((prefix for prefix in PREFIXES if item.startswith(prefix)), None)
    if prefix is None:
        return None
    decoder = BulkDecoder(item + bytes(64))
    position = len(prefix)
    fields: dict[str, bytes] = {}
    while position < len(item) - 1:
        positions = np.array([position])
        [number], [size] = decoder.references(positions)
        key = memo[number] if size and number < len(memo) else None
        if type(key) is not str or key in fields:
            return None
        fields[key] = item[position : position + int(size)]
        values = values_under(decoder, key, positions + size)
        if values is None or values.ends[0] < 0:
            return None
        position = int(values.ends[0])
    is_complete = (
        position == len(item) - 1 and item[position] == SETITEMS and fields.keys() >= NEEDED
    )
    return (prefix, tuple((raw, key) for key, raw in fields.items())) if is_complete else None


def values_under(decoder: BulkDecoder, key: str, positions: Integers) -> Values | None:
    """Read the values of a key at these positions. Return None if the key is unknown."""
    if key in INTEGERS:
        return decoder.integers(positions)
    if key in TEXTS:
        return decoder.texts(positions)
    if key in LISTS:
        return decoder.lists(positions)
    return decoder.pools(positions) if key == POOL else None


def decoded(
    decoder: BulkDecoder, layout: Layout, starts: Integers
) -> tuple[Integers, dict[str, Integers]]:
    """Decode events at `starts`. Return their ends (-1: no event) and their columns by key.

    A key whose values may be memoized has three more columns. `seen`: the number of values of the
    event memoized before. `kept` and `more`: see `Values`. Column `memoised`: the number of values
    of the event memoized in all.
    """
    prefix, fields = layout
    columns: dict[str, Integers] = {}
    positions = decoder.over(starts, prefix)
    seen = np.full(len(starts), prefix.count(bytes([MEMOIZE])), np.int64)
    for raw, key in fields:
        values = values_under(decoder, key, decoder.over(positions, raw))
        assert values
        columns[key], positions = values.numbers, values.ends
        if key == "addr":
            positions = np.where(values.numbers >= 0, positions, -1)
        if key not in INTEGERS:
            columns |= {f"{key} seen": seen, f"{key} kept": values.kept, f"{key} more": values.more}
            seen = seen + values.kept
    columns["memoised"] = seen
    return decoder.over(positions, bytes([SETITEMS])), columns
