"""Conversion of lists of dicts to columns, with errors that name the location of invalid values."""

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ingest.errors import ProfileError
from ingest.formats.pickle.values import kind
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
    pa.float64(): (float, "a float"),
    **dict.fromkeys(RANGES, (int, "an integer")),
}
MAX_JSON_PARTS = 10_000
MAX_JSON_CHARACTERS = 1 << 20
MAX_COLUMN_CHARACTERS = 128 << 20  # a shared string is written out for each row
MAX_JSON_DEPTH = 64
KEYS_SHOWN, MAX_KEY_SHOWN = 4, 40

Location = Callable[[int], str]


def column(
    records: Sequence[dict[Any, Any]], key: str, type_: pa.DataType, location: Location
) -> pa.Array:
    """Return the values under a key as a column, with null for a missing value.

    Raise ProfileError, with the location of the record, for a value of another type or out of
    range.
    """
    return typed([record.get(key) for record in records], key, type_, location)


def typed(values: list[Any], key: str, type_: pa.DataType, location: Location) -> pa.Array:
    """Return values as a column. `key` names them in errors; see `column`."""
    right, name = TYPES[type_]
    if not set(map(type, values)) <= {right, type(None)}:
        for number, value in enumerate(values):
            if value is not None and type(value) is not right:
                raise ProfileError(f"{location(number)}.{key}: {kind(value)}, not {name}")
    if right is str:
        bounded(sum(map(len, filter(None, values))), key)
    try:
        return pa.array(values, type_)
    except (OverflowError, pa.ArrowInvalid):
        low, high = RANGES[type_]
        for number, value in enumerate(values):
            if value is not None and not low <= value <= high:
                raise ProfileError(f"{location(number)}.{key}: out of range: {value:,}") from None
        raise


def bounded(characters: int, key: str) -> None:
    """Raise ProfileError if the texts of a column, written out for each row, are too long."""
    if characters > MAX_COLUMN_CHARACTERS:
        most = f"{MAX_COLUMN_CHARACTERS:,} characters"
        raise ProfileError(f"{key}: more than {most} in all rows together")


def require(records: Sequence[Any], keys: Sequence[str], location: Location) -> None:
    """Raise ProfileError unless each record is a dict with a value under each key."""
    for number, record in enumerate(records):
        if type(record) is not dict:
            raise ProfileError(f"{location(number)}: {kind(record)}, not a dict")
        for key in keys:
            if record.get(key) is None:
                raise ProfileError(f"{location(number)}: {key} is missing")


def pools(records: Sequence[dict[Any, Any]], key: str, location: Location) -> pa.Array:
    """Return ids of memory pools as texts in the form of torch: `(0, 1)`."""
    texts = []
    for number, record in enumerate(records):
        pool = record.get(key)
        if pool is not None and not (
            type(pool) in (tuple, list)
            and len(pool) == 2
            and all(type(part) is int and abs(part) <= UINT64_MAX for part in pool)
        ):
            raise ProfileError(f"{location(number)}.{key}: {kind(pool)}, not a pair of integers")
        texts.append(None if pool is None else f"({pool[0]}, {pool[1]})")
    return pa.array(texts, pa.string())


def others(
    records: Sequence[dict[Any, Any]], known: frozenset[str], location: Location
) -> pa.Array:
    """Return the values under unknown keys as JSON, with null for a record without such keys."""
    texts = []
    characters = 0  # checked as it grows, because the values may be shared
    for number, record in enumerate(records):
        further = record.keys() - known
        found = {key: record[key] for key in record if key in further} if further else None
        texts.append(as_json(found, location(number)) if found else None)
        if found:
            characters += len(texts[-1] or "")
            bounded(characters, "unknown keys")
    return pa.array(texts, pa.string())


def unread(
    subject: str, records: Sequence[dict[Any, Any]], known: frozenset[str]
) -> list[SourceWarning]:
    """Return a warning if records have unknown keys: some of the keys, and the number of values.

    `subject` is the beginning of the sentence: `segments have`.
    """
    counts = Counter(key for record in records for key in record.keys() - known)
    if not counts:
        return []
    names = sorted(str(key)[:MAX_KEY_SHOWN] for key in counts)
    shown = ", ".join(names[:KEYS_SHOWN]) + (", …" if len(names) > KEYS_SHOWN else "")
    values = "1 value" if counts.total() == 1 else f"{counts.total():,} values"
    message = f"{subject} keys that are not read: {shown} ({values})"
    return [SourceWarning("keys_not_read", message)]


def as_json(value: Any, location: str) -> str:
    """Return a value as JSON. Raise ProfileError if it has too many parts or nests too deeply."""
    return json.dumps(plain(value, location, Budget()), ensure_ascii=False)


@dataclass(slots=True)
class Budget:
    """The number of parts and characters that a value may still have."""

    parts: int = MAX_JSON_PARTS
    characters: int = MAX_JSON_CHARACTERS


def plain(value: Any, location: str, budget: Budget, depth: int = 0) -> Any:
    """Return a copy of a value that can be written as JSON.

    Raise ProfileError if it exceeds the budget, or holds anything but plain data.
    """
    budget.parts -= 1
    if type(value) is str:
        budget.characters -= len(value)
    if min(budget.parts, budget.characters) < 0 or depth > MAX_JSON_DEPTH:
        most = f"{MAX_JSON_PARTS:,} values or {MAX_JSON_CHARACTERS:,} characters"
        raise ProfileError(f"{location}: more than {most}, or nested too deeply")
    if type(value) in (list, tuple):
        return [plain(part, location, budget, depth + 1) for part in value]
    if type(value) is dict:
        budget.characters -= sum(len(key) for key in value if type(key) is str)
        return {str(key): plain(part, location, budget, depth + 1) for key, part in value.items()}
    if type(value) is float and not math.isfinite(value):
        return str(value)
    if value is None or type(value) in (str, int, float, bool):
        return value
    raise ProfileError(f"{location}: {kind(value)}")
