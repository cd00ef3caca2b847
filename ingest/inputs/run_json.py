"""What the run.json of a run directory says, and the files `rank<n>.json` beside it."""

import json
import re
from pathlib import Path
from typing import Any

from ingest.errors import ProfileError
from ingest.formats import Staging
from ingest.formats.json_text import nests_deeper, without_lone_surrogates
from ingest.inputs.metadata import MOST_RANKS

KIND = "run_json"  # in column `kind` of table `sources`
NAME = "run.json"
RANK_NAME = re.compile(r"rank\d+\.json")  # beside run.json: the same keys, said by one rank
LONGEST = 1 << 20

TYPES = {
    **dict.fromkeys(
        ("name", "model", "mode", "framework", "framework_version", "device_name", "started_at"),
        str,
    ),
    "world_size": int,
    "tags": dict,
}


def is_of_a_rank(file: Path) -> bool:
    """Whether the file is one rank's, in a directory with a run.json."""
    return bool(RANK_NAME.fullmatch(file.name)) and file.with_name(NAME).exists()


def read_json(file: Path) -> dict[str, Any]:
    """The object in the file. Raises ProfileError where it holds none, is long or nested deep."""
    if file.stat().st_size > LONGEST:
        raise ProfileError(f"{file}: longer than {LONGEST:,} bytes")
    try:
        found = json.loads(without_lone_surrogates(file.read_text(encoding="utf-8-sig")))
        if nests_deeper(found):
            raise RecursionError("nested too deep")
    except (ValueError, RecursionError) as error:
        raise ProfileError(f"{file}: not valid JSON: {error}") from error
    if not isinstance(found, dict):
        raise ProfileError(f"{file}: not a JSON object")
    return found


def read_description(file: Path) -> dict[str, Any]:
    """What run.json says of the run. Raises ProfileError for a value of the wrong type."""
    description = read_json(file)
    for key, kind in TYPES.items():
        if not isinstance(description.get(key), kind | None):
            raise ProfileError(f"{file}: {key} must be {kind.__name__}")
    if not 0 <= (description.get("world_size") or 0) <= MOST_RANKS:
        raise ProfileError(f"{file}: world_size must be from 0 to {MOST_RANKS:,}")
    return description


def stage_compilations(source_id: int, description: dict[str, Any], staging: Staging) -> None:
    """Puts what the file says of its process's compilations into table `staged_run_json`."""
    compilation = description.get("compilation")
    rank = description.get("rank", 0)
    if isinstance(compilation, dict) and type(rank) is int and 0 <= rank < 1 << 31:
        staging.connection.execute(
            "INSERT INTO staged_run_json VALUES ($1, $2, $3)",
            [source_id, rank, json.dumps(compilation)],
        )
