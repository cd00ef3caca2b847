"""The layouts of pickled events: how one begins, and which keys follow in which order."""

from typing import Any

import numpy as np

from ingest.formats.snapshot.pickle.bulk_decoder import Integers, LaneDecoder, Values
from ingest.formats.snapshot.pickle.opcodes import MEMOIZE, SETITEMS

INTEGERS = ("addr", "size", "stream", "time_us", "device_free")
TEXTS = ("action", "compile_context", "user_metadata", "category")
LISTS = ("frames", "forward_frames")
POOL = "pool_id"
NEEDED = {"action", "addr"}
PREFIXES = (b"}\x94(", b"}(")

Layout = tuple[bytes, tuple[tuple[bytes, str], ...]]  # how it begins; each key's bytes, and name


def layout_of(item: bytes, memo: list[Any]) -> Layout | None:
    """The layout of an event, unless it has fresh keys, unknown ones, or values of other kinds."""
    prefix = next((prefix for prefix in PREFIXES if item.startswith(prefix)), None)
    if prefix is None:
        return None
    decoder = LaneDecoder(item + bytes(64))
    place = len(prefix)
    fields: dict[str, bytes] = {}
    while place < len(item) - 1:
        places = np.array([place])
        [number], [size] = decoder.references(places)
        key = memo[number] if size and number < len(memo) else None
        if type(key) is not str or key in fields:
            return None
        fields[key] = item[place : place + int(size)]
        values = values_under(decoder, key, places + size)
        if values is None or values.ends[0] < 0:
            return None
        place = int(values.ends[0])
    is_whole = place == len(item) - 1 and item[place] == SETITEMS and fields.keys() >= NEEDED
    return (prefix, tuple((raw, key) for key, raw in fields.items())) if is_whole else None


def values_under(decoder: LaneDecoder, key: str, places: Integers) -> Values | None:
    """The values under a key, from their places on; None for a key that is not known."""
    if key in INTEGERS:
        return decoder.integers(places)
    if key in TEXTS:
        return decoder.texts(places)
    if key in LISTS:
        return decoder.lists(places)
    return decoder.pools(places) if key == POOL else None


def decoded(
    decoder: LaneDecoder, layout: Layout, starts: Integers
) -> tuple[Integers, dict[str, Integers]]:
    """Where the events end that begin at `starts`, -1 where none does; and what they have.

    Of a key with values that may be kept: `seen` is how much of the event was kept before, `kept`
    and `more` are those of the step. `memoised`: how much of the event is kept in all.
    """
    prefix, fields = layout
    columns: dict[str, Integers] = {}
    places = decoder.over(starts, prefix)
    seen = np.full(len(starts), prefix.count(bytes([MEMOIZE])), np.int64)
    for raw, key in fields:
        values = values_under(decoder, key, decoder.over(places, raw))
        assert values
        columns[key], places = values.numbers, values.ends
        if key == "addr":
            places = np.where(values.numbers >= 0, places, -1)
        if key not in INTEGERS:
            columns |= {f"{key} seen": seen, f"{key} kept": values.kept, f"{key} more": values.more}
            seen = seen + values.kept
    columns["memoised"] = seen
    return decoder.over(places, bytes([SETITEMS])), columns
