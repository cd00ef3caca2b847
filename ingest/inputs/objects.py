"""Input files on object storage, which are read in blocks, without a copy.

An interrupted read goes on where it was. Only extra `lake` has the packages for this.
"""

import re
from collections.abc import Callable
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, cast

from ingest.errors import ProfileError, first_line
from ingest.inputs.directories import run_directories
from ingest.inputs.single_read import SingleRead

SCHEME = "s3://"
URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
OBJECT = re.compile(r"s3://[^/]+/.*[^/]/*", re.DOTALL)
PATTERN = re.compile(r"[*?]")
OPTIONS: dict[str, Any] = {
    "default_block_size": 8 << 20,
    "default_cache_type": "readahead",
    "use_listings_cache": False,  # objects may change
}


def input_path(text: str | Path) -> Path:
    """Return the path of a local file or directory, or of an object or prefix s3://BUCKET/KEY.

    That of an object only behaves as a `pathlib.Path`.
    """
    if isinstance(text, Path) or not URL.match(str(text)):
        return Path(text)
    if not str(text).startswith(SCHEME):
        raise ProfileError(f"{text}: only files and s3://BUCKET/KEY can be read")
    if not OBJECT.fullmatch(str(text)):
        raise ProfileError(
            f"{text}: an object is s3://BUCKET/KEY, and a whole bucket s3://BUCKET/*"
        )
    try:
        object_path = _object_path()
    except ImportError as error:
        raise ProfileError(
            f"{text}: reading from object storage needs more packages: "
            "pip install 'tracehouse[lake]'"
        ) from error
    return cast("Path", object_path(str(text).rstrip("/"), **OPTIONS))


def is_object(path: Path) -> bool:
    """Return whether a path names an object or a prefix on object storage."""
    return not isinstance(path, Path)


def sha256_of_object(path: Path) -> str:
    """Return the hexadecimal SHA-256 of an object. Bytes that were read are not read again.

    Raise ObjectError if it could not be read, also earlier, or has changed since it was first read.
    """
    return str(cast("Any", path).sha256())


@cache
def _object_path() -> Callable[..., object]:
    """Return the class of the paths of objects, whose base class takes long to import."""
    from upath.extensions import ProxyUPath

    class ObjectPath(ProxyUPath):
        @cached_property
        def _single_read(self) -> SingleRead:
            return SingleRead(str(self))

        def open(self, mode: str = "r", *arguments: Any, **named: Any) -> Any:
            open_object = partial(super().open, mode, *arguments, **named)
            return self._single_read.opened(open_object) if mode == "rb" else open_object()

        def sha256(self) -> str:
            with self.open("rb") as file:
                return self._single_read.sha256(file)

        def __reduce__(self) -> tuple[Callable[[str], Path], tuple[str]]:
            return input_path, (str(self),)

    return ObjectPath


def runs_at(text: str) -> list[Path]:
    """Return the paths of the runs that an argument names (`run_directories`).

    On object storage, it may have * and ?. Raise ProfileError if nothing matches, or if the storage
    cannot be read.
    """
    path: Any = input_path(text)
    if not is_object(path):
        return run_directories(path)
    try:
        if not PATTERN.search(text):
            return run_directories(path)
        found = path.fs.glob(path.path.replace("[", "[[]"), detail=True)
        runs: list[Path] = []
        for key in sorted(found):
            each = input_path(f"{SCHEME}{key}")
            runs += [each] if found[key]["type"] == "file" else run_directories(each)
    except Exception as error:  # the libraries have errors of their own
        raise ProfileError(f"{text}: {first_line(error)}") from error
    if not runs:
        raise ProfileError(f"{text}: no such object")
    return runs
