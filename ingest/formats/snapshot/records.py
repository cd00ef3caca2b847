"""Columns of a list of dicts, with a word on the place of each value that does not fit."""

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ingest.errors import ProfileError
from ingest.formats.snapshot.pickle.machine import kind
from ingest.formats.source import SourceWarning

UINT64_MAX = 2**64 - 1
RANGES = {
    pa.int32(): (-(2**31), 2**31 - 1),
    pa.int64(): (-(2**63), 2**63 - 1),
    pa.uint64(): (0, UINT64_MAX),
}
TYPES: dict[Any, tuple[type, str]] = {
    pa.string(): (str, "a string"),
    pa.bool_(): (bool, "a bool"),
    **dict.fromkeys(RANGES, (int, "an integer")),
}
MAX_JSON_PARTS = 10_000
MAX_JSON_CHARACTERS = 1 << 20
MAX_COLUMN_CHARACTERS = 128 << 20  # a string that is shared is written out for each row
MAX_JSON_DEPTH = 64
KEYS_SHOWN, MAX_KEY_SHOWN = 4, 40

Place = Callable[[int], str]


def column(
    records: Sequence[dict[Any, Any]], key: str, type_: pa.DataType, place: Place
) -> pa.Array:
    """The values under a key, null where there is none.

    Raises ProfileError, with the place of the record, for a value of another type or out of range.
    """
    return typed([record.get(key) for record in records], key, type_, place)


def typed(values: list[Any], key: str, type_: pa.DataType, place: Place) -> pa.Array:
    """Values that are said to stand under a key, as a column."""
    right, name = TYPES[type_]
    if not set(map(type, values)) <= {right, type(None)}:
        for number, value in enumerate(values):
            if value is not None and type(value) is not right:
                raise ProfileError(f"{place(number)}.{key}: {kind(value)}, not {name}")
    if right is str:
        bounded(sum(map(len, filter(None, values))), key)
    try:
        return pa.array(values, type_)
    except (OverflowError, pa.ArrowInvalid):
        low, high = RANGES[type_]
        for number, value in enumerate(values):
            if value is not None and not low <= value <= high:
                raise ProfileError(f"{place(number)}.{key}: out of range: {value:,}") from None
        raise


def bounded(characters: int, key: str) -> None:
    """Raises ProfileError where the texts of a column take too much once they are written out."""
    if characters > MAX_COLUMN_CHARACTERS:
        most = f"{MAX_COLUMN_CHARACTERS:,} characters"
        raise ProfileError(f"{key}: more than {most}, of which many must be the same")


def require(records: Sequence[Any], keys: Sequence[str], place: Place) -> None:
    """Raises ProfileError unless each record is a dict with a value under each key."""
    for number, record in enumerate(records):
        if type(record) is not dict:
            raise ProfileError(f"{place(number)}: {kind(record)}, not a dict")
        for key in keys:
            if record.get(key) is None:
                raise ProfileError(f"{place(number)}: no {key}")


def pools(records: Sequence[dict[Any, Any]], key: str, place: Place) -> pa.Array:
    """Ids of memory pools as torch prints them: `(0, 1)`."""
    texts = []
    for number, record in enumerate(records):
        pool = record.get(key)
        if pool is not None and not (
            type(pool) in (tuple, list)
            and len(pool) == 2
            and all(type(part) is int and abs(part) <= UINT64_MAX for part in pool)
        ):
            raise ProfileError(f"{place(number)}.{key}: {kind(pool)}, not a pair of integers")
        texts.append(None if pool is None else f"({pool[0]}, {pool[1]})")
    return pa.array(texts, pa.string())


def others(records: Sequence[dict[Any, Any]], known: frozenset[str], place: Place) -> pa.Array:
    """What stands under keys that are not known, as JSON; null where there is none."""
    texts = []
    characters = 0  # counted as it grows: the values may be shared ones
    for number, record in enumerate(records):
        further = record.keys() - known
        found = {key: record[key] for key in record if key in further} if further else None
        texts.append(as_json(found, place(number)) if found else None)
        if found:
            characters += len(texts[-1] or "")
            bounded(characters, "keys that are not known")
    return pa.array(texts, pa.string())


def unread(
    what: str, records: Sequence[dict[Any, Any]], known: frozenset[str]
) -> list[SourceWarning]:
    """A warning where records have keys that are not known: some of these, and of how many values.

    `what` names the records with a verb: `segments have`.
    """
    counts = Counter(key for record in records for key in record.keys() - known)
    if not counts:
        return []
    names = sorted(str(key)[:MAX_KEY_SHOWN] for key in counts)
    shown = ", ".join(names[:KEYS_SHOWN]) + (", …" if len(names) > KEYS_SHOWN else "")
    values = "1 value" if counts.total() == 1 else f"{counts.total():,} values"
    message = f"{what} keys that are not read: {shown} ({values})"
    return [SourceWarning("keys_not_read", message)]


def as_json(value: Any, place: str) -> str:
    """A value as JSON. Raises ProfileError where that has too many parts, or is nested too deep."""
    return json.dumps(plain(value, place, Budget()), ensure_ascii=False)


@dataclass(slots=True)
class Budget:
    """What a value may still have."""

    parts: int = MAX_JSON_PARTS
    characters: int = MAX_JSON_CHARACTERS


def plain(value: Any, place: str, budget: Budget, depth: int = 0) -> Any:
    """A copy that is safe to write."""
    budget.parts -= 1
    if type(value) is str:
        budget.characters -= len(value)
    if min(budget.parts, budget.characters) < 0 or depth > MAX_JSON_DEPTH:
        most = f"{MAX_JSON_PARTS:,} values or {MAX_JSON_CHARACTERS:,} characters"
        raise ProfileError(f"{place}: more than {most}, or nested too deep")
    if type(value) in (list, tuple):
        return [plain(part, place, budget, depth + 1) for part in value]
    if type(value) is dict:
        budget.characters -= sum(len(key) for key in value if type(key) is str)
        return {str(key): plain(part, place, budget, depth + 1) for key, part in value.items()}
    if type(value) is float and not math.isfinite(value):
        return str(value)
    if value is None or type(value) in (str, int, float, bool):
        return value
    raise ProfileError(f"{place}: {kind(value)}")
