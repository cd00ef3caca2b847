"""Reading of memory timelines (`.raw.json.gz`): allocator actions with categories."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from ingest.errors import ProfileError
from ingest.formats.io import blocks

ACTIONS = ("PREEXISTING", "CREATE", "INCREMENT_VERSION", "DESTROY")
CATEGORIES = (
    "PARAMETER", "OPTIMIZER_STATE", "INPUT", "TEMPORARY", "ACTIVATION", "GRADIENT",
    "AUTOGRAD_DETAIL", "unknown",
)  # fmt: skip
LONGEST = 2 << 30  # bytes of JSON: 50 million actions
MOST_BYTES = 1 << 50  # of one action; sums of larger ones would overflow
SCHEMA = pa.schema(
    [
        ("time_ns", pa.int64()),
        ("action", pa.string()),
        ("change_bytes", pa.int64()),
        ("category", pa.string()),
    ]
)


def read_memory_timeline(
    path: Path, progress: Callable[[int], None] | None = None
) -> tuple[pa.Table, int]:
    """Return the actions in file order, and the size of the decompressed file.

    Columns: `time_ns` (Unix time; null for memory that was allocated before the start), `action`,
    `change_bytes` (signed), `category`. torch numbers the actions from 1, older versions from 0.
    Raise ProfileError if the file is not such a list.
    """
    text = bytearray()
    with path.open("rb") as file:
        try:
            for block in blocks(file):
                text += block
                if progress:
                    progress(file.tell())
                if len(text) > LONGEST:
                    raise ProfileError(f"{path}: longer than {LONGEST:,} bytes of JSON")
        except (EOFError, OSError) as error:
            raise ProfileError(f"{path}: {error}") from error
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProfileError(f"{path}: not valid JSON: {error}") from error
    first = 0 if any(isinstance(row, list) and row[1:2] == [0] for row in rows) else 1
    columns = zip(
        *(_action(path, number, row, first) for number, row in enumerate(rows)), strict=True
    )
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    return pa.table(arrays or [[]] * len(SCHEMA), schema=SCHEMA), len(text)


def _action(path: Path, number: int, row: Any, first: int) -> tuple[int | None, str, int, str]:
    """Return the columns of a row `[time in ns, action, signed bytes, category]`.

    `first`: the number of the first action, 0 or 1.
    """
    is_quadruple = isinstance(row, list) and len(row) == 4
    if not is_quadruple or any(type(value) is not int or abs(value) >= 1 << 63 for value in row):
        raise ProfileError(
            f"{path}: row {number:,} is not a list of four integers: not a raw memory timeline"
        )
    time_ns, action, change_bytes, category = row
    if not (first <= action < first + len(ACTIONS) and 0 <= category < len(CATEGORIES)):
        raise ProfileError(
            f"{path}: row {number:,}: unknown action {action} or category {category}"
        )
    if abs(change_bytes) > MOST_BYTES:
        raise ProfileError(f"{path}: row {number:,} has an impossible size: {change_bytes:,} bytes")
    named = ACTIONS[action - first]
    return None if time_ns < 0 else time_ns, named, change_bytes, CATEGORIES[category]
