"""Reading of a run directory's run.json, and of the files `rank<n>.json` next to it."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from ingest.errors import ProfileError
from ingest.formats import Source, Staging
from ingest.formats.json_text import nests_deeper, without_lone_surrogates
from ingest.formats.source import MAX_RANKS
from ingest.inputs.metadata import started_at
from ingest.units import counted

KIND = "run_json"  # in column `kind` of table `sources`
NAME = "run.json"
RANK_NAME = re.compile(r"rank(\d{1,6})\.json")  # has the same keys as run.json, for one rank
LONGEST = 1 << 20  # bytes
MAX_DIGITS = 1_000  # of a whole number


class Kind(NamedTuple):
    """The allowed values of a key: their description for warnings, and a check."""

    description: str
    allows: Callable[[Any], bool]


TEXT = Kind("text", lambda value: isinstance(value, str))
NUMBER = Kind("a number", lambda value: type(value) in (int, float) and abs(value) < math.inf)
SCALAR = Kind(
    "text, a number or a boolean",
    lambda value: isinstance(value, str | bool) or NUMBER.allows(value),
)
OBJECT = Kind("an object", lambda value: isinstance(value, dict))
LIST = Kind("a list", lambda value: isinstance(value, list))
OF_RUN = {
    **dict.fromkeys(
        ("name", "model", "mode", "framework", "framework_version", "device_name"), TEXT
    ),
    "started_at": Kind(
        "a time in ISO 8601",
        lambda value: isinstance(value, str) and started_at({"started_at": value}) is not None,
    ),
    "world_size": Kind(
        f"a whole number from 0 to {MAX_RANKS:,}",
        lambda value: type(value) is int and 0 <= value <= MAX_RANKS,
    ),
    **dict.fromkeys(("tags", "sweep"), OBJECT),
    **dict.fromkeys(  # conditions, which `compare` shows unchanged
        ("batch", "offload", "dtype", "diffusers_version", "python_version", "driver"), SCALAR
    ),
    **dict.fromkeys(("width", "height", "max_sequence_length"), SCALAR),
}
OF_PROCESS = {
    "rank": Kind(
        f"a whole number from 0 to {MAX_RANKS:,}",
        lambda value: type(value) is int and 0 <= value <= MAX_RANKS,
    ),
    "compilation": OBJECT,
}
OF_COMPILATION = dict.fromkeys(("started_at_ns", "seconds", "line", "graph_breaks"), NUMBER)


def is_of_a_rank(file: Path) -> bool:
    """Return whether the file is the `rank<n>.json` of a directory with a run.json."""
    return bool(RANK_NAME.fullmatch(file.name)) and file.with_name(NAME).exists()


def read_json(file: Path) -> dict[str, Any]:
    """Return the JSON object in the file.

    Raise ProfileError if there is none, or if it is too long or nests too deeply.
    """
    if file.stat().st_size > LONGEST:
        raise ProfileError(f"{file}: longer than {LONGEST:,} bytes")
    with file.open("rb") as opened:
        content = opened.read()
    try:
        text = without_lone_surrogates(content.decode("utf-8-sig"))
        found = json.loads(text, parse_int=_parse_int)
        if nests_deeper(found):
            raise RecursionError("nested too deeply")
    except (ValueError, RecursionError) as error:
        raise ProfileError(f"{file}: not valid JSON: {error}") from error
    if not isinstance(found, dict):
        raise ProfileError(f"{file}: not a JSON object")
    return found


def read_description(source: Source) -> dict[str, Any]:
    """Return the contents of run.json without values of the wrong type; `source` warns of these.

    If the file holds no JSON object, the result is empty and the source is marked as failed.
    """
    try:
        description = read_json(source.path)
    except ProfileError as error:
        source.fail(str(error))
        return {}
    return _valid(source, description, OF_RUN)


def stage_compilations(source: Source, description: dict[str, Any], staging: Staging) -> None:
    """Insert the file's compilations of its process into table `staged_run_json`.

    Values of the wrong type are left out, and `source` warns of them.
    """
    process = _valid(source, description, OF_PROCESS)
    if process.get("compilation") is None:
        return
    compilation = _valid(source, process["compilation"], {"compilations": LIST}, "compilation.")
    each = [one for one in compilation.get("compilations") or [] if isinstance(one, dict)]
    bad = Counter(key for one in each for key in _invalid_keys(one, OF_COMPILATION))
    for key, values in bad.items():
        wrong = f"{counted(values, 'value')} of compilation.compilations[].{key}"
        source.warn("value_ignored", f"{wrong}: not {OF_COMPILATION[key].description}, ignored")
    compilation["compilations"] = [
        _without(one, _invalid_keys(one, OF_COMPILATION)) for one in each
    ]
    named = RANK_NAME.fullmatch(source.path.name)
    rank_in_name = int(named[1]) if named else 0
    staging.connection.execute(
        "INSERT INTO staged_run_json VALUES ($1, $2, $3)",
        [
            source.source_id,
            rank_in_name if process.get("rank") is None else process["rank"],
            json.dumps(compilation),
        ],
    )


def _valid(
    source: Source, values: dict[str, Any], kinds: dict[str, Kind], prefix: str = ""
) -> dict[str, Any]:
    """Return `values` without invalid ones, and add a warning to `source` for each of these.

    `prefix` precedes the key in warnings.
    """
    invalid = _invalid_keys(values, kinds)
    for key in invalid:
        source.warn("value_ignored", f"{prefix}{key}: not {kinds[key].description}, ignored")
    return _without(values, invalid)


def _invalid_keys(values: dict[str, Any], kinds: dict[str, Kind]) -> list[str]:
    """Return the keys whose values are not allowed. Null counts as a missing value."""
    return [
        key
        for key, kind in kinds.items()
        if values.get(key) is not None and not kind.allows(values[key])
    ]


def _without(values: dict[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in keys}


def _parse_int(digits: str) -> int | float:
    """Convert digits to an int, or to a float if there are too many for Python's `int`."""
    return int(digits) if len(digits) <= MAX_DIGITS else float(digits)
