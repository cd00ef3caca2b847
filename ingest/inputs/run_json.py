"""What the run.json of a run directory says, and the files `rank<n>.json` beside it."""

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
from ingest.inputs.metadata import MOST_RANKS, started_at
from ingest.units import counted

KIND = "run_json"  # in column `kind` of table `sources`
NAME = "run.json"
RANK_NAME = re.compile(r"rank(\d{1,6})\.json")  # beside run.json: the same keys, said by one rank
LONGEST = 1 << 20
MOST_DIGITS = 1_000  # of a whole number


class Kind(NamedTuple):
    """What the value of a key must be: in words, and whether a value is that."""

    words: str
    fits: Callable[[Any], bool]


TEXT = Kind("text", lambda value: isinstance(value, str))
NUMBER = Kind("a number", lambda value: type(value) in (int, float) and abs(value) < math.inf)
SCALAR = Kind(
    "text, a number or a boolean",
    lambda value: isinstance(value, str | bool) or NUMBER.fits(value),
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
        f"a whole number from 0 to {MOST_RANKS:,}",
        lambda value: type(value) is int and 0 <= value <= MOST_RANKS,
    ),
    **dict.fromkeys(("tags", "sweep"), OBJECT),
    **dict.fromkeys(  # conditions, which `compare` shows as they are
        ("batch", "offload", "dtype", "diffusers_version", "python_version", "driver"), SCALAR
    ),
    **dict.fromkeys(("width", "height", "max_sequence_length"), SCALAR),
}
OF_PROCESS = {
    "rank": Kind(
        f"a whole number from 0 to {MOST_RANKS:,}",
        lambda value: type(value) is int and 0 <= value <= MOST_RANKS,
    ),
    "compilation": OBJECT,
}
OF_COMPILATION = dict.fromkeys(("started_at_ns", "seconds", "line", "graph_breaks"), NUMBER)


def is_of_a_rank(file: Path) -> bool:
    """Whether the file is one rank's, in a directory with a run.json."""
    return bool(RANK_NAME.fullmatch(file.name)) and file.with_name(NAME).exists()


def read_json(file: Path) -> dict[str, Any]:
    """The object in the file. Raises ProfileError where it holds none, is long or nested deep."""
    if file.stat().st_size > LONGEST:
        raise ProfileError(f"{file}: longer than {LONGEST:,} bytes")
    try:
        found = json.loads(
            without_lone_surrogates(file.read_text(encoding="utf-8-sig")), parse_int=_whole
        )
        if nests_deeper(found):
            raise RecursionError("nested too deep")
    except (ValueError, RecursionError) as error:
        raise ProfileError(f"{file}: not valid JSON: {error}") from error
    if not isinstance(found, dict):
        raise ProfileError(f"{file}: not a JSON object")
    return found


def read_description(source: Source) -> dict[str, Any]:
    """What run.json says of the run, without values of the wrong type; `source` is warned of these.

    Empty where the file holds no object: then the source has failed.
    """
    try:
        description = read_json(source.path)
    except ProfileError as error:
        source.fail(str(error))
        return {}
    return _fitting(source, description, OF_RUN)


def stage_compilations(source: Source, description: dict[str, Any], staging: Staging) -> None:
    """Puts what the file says of its process's compilations into table `staged_run_json`.

    Values of the wrong type are left out, and `source` is warned of them.
    """
    said = _fitting(source, description, OF_PROCESS)
    if said.get("compilation") is None:
        return
    compilation = _fitting(source, said["compilation"], {"compilations": LIST}, "compilation.")
    each = [one for one in compilation.get("compilations") or [] if isinstance(one, dict)]
    bad = Counter(key for one in each for key in _unfit(one, OF_COMPILATION))
    for key, values in bad.items():
        wrong = f"{counted(values, 'value')} of compilation.compilations[].{key}"
        source.warn("value_ignored", f"{wrong}: not {OF_COMPILATION[key].words}, ignored")
    compilation["compilations"] = [_without(one, _unfit(one, OF_COMPILATION)) for one in each]
    named = RANK_NAME.fullmatch(source.path.name)
    of_name = int(named[1]) if named else 0
    staging.connection.execute(
        "INSERT INTO staged_run_json VALUES ($1, $2, $3)",
        [
            source.source_id,
            of_name if said.get("rank") is None else said["rank"],
            json.dumps(compilation),
        ],
    )


def _fitting(
    source: Source, said: dict[str, Any], kinds: dict[str, Kind], within: str = ""
) -> dict[str, Any]:
    """`said` without the values that are not of their kinds, of which `source` is warned."""
    unfit = _unfit(said, kinds)
    for key in unfit:
        source.warn("value_ignored", f"{within}{key}: not {kinds[key].words}, ignored")
    return _without(said, unfit)


def _unfit(said: dict[str, Any], kinds: dict[str, Kind]) -> list[str]:
    """The keys whose values are not of their kinds; null is as no value."""
    return [
        key for key, kind in kinds.items() if said.get(key) is not None and not kind.fits(said[key])
    ]


def _without(said: dict[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: value for key, value in said.items() if key not in keys}


def _whole(digits: str) -> int | float:
    """Python reads no integers of thousands of digits."""
    return int(digits) if len(digits) <= MOST_DIGITS else float(digits)
