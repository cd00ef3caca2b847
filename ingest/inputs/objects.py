"""Input files on object storage, which are read in blocks, without a copy.

An interrupted read goes on where it was. Only extra `lake` has the packages for this.
"""

import re
from pathlib import Path
from typing import Any, cast

from ingest.errors import ProfileError
from ingest.inputs.directories import run_directories

URL = re.compile(r"s3://")
PATTERN = re.compile(r"[*?\[]")
OPTIONS: dict[str, Any] = {
    "default_block_size": 8 << 20,
    "default_cache_type": "readahead",
    "use_listings_cache": False,  # objects may change
}


def input_path(text: str | Path) -> Path:
    """Return the path of a local file or directory, or of an object or prefix s3://BUCKET/KEY.

    That of an object only behaves as a `pathlib.Path`.
    """
    if not URL.match(str(text)):
        return Path(text)
    try:
        from upath.implementations.cloud import S3Path
    except ImportError as error:
        raise ProfileError(
            f"{text}: reading from object storage needs more packages: "
            "pip install 'tracehouse[lake]'"
        ) from error
    return cast("Path", S3Path(str(text).rstrip("/"), **OPTIONS))


def runs_at(text: str) -> list[Path]:
    """Return the paths of the runs that an argument names (`run_directories`).

    On object storage, it may have * and ?. Raise ProfileError if nothing matches, or if the storage
    cannot be read.
    """
    path = input_path(text)
    if isinstance(path, Path):
        return run_directories(path)
    try:
        if not PATTERN.search(text):
            return run_directories(path)
        found = [input_path(f"s3://{key}") for key in path.fs.glob(path.path)]
        runs = [run for each in sorted(found, key=str) for run in run_directories(each)]
    except Exception as error:  # the libraries have errors of their own
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ProfileError(f"{text}: {reason}") from error
    if not runs:
        raise ProfileError(f"{text}: no such object")
    return runs
