"""Reading of dumps of the flight recorder, which are pickles or JSON."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ingest.errors import ProfileError
from ingest.formats.io import blocks
from ingest.formats.pickle.machine import read_pickle
from ingest.formats.records import unread
from ingest.formats.source import SourceWarning
from ingest.formats.staging import Progress

LONGEST = 256 << 20  # bytes of JSON
MAX_HELD_BYTES = 512 << 20  # memory that the values of a pickle may take
NEWEST = (2, 10)  # the newest version that is known
VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})")

ENTRIES, GROUPS, STATUS = "entries", "pg_config", "pg_status"
KNOWN_KEYS = frozenset({"version", ENTRIES, GROUPS, STATUS})
LIBRARY_VERSION = re.compile(r"(?:comm_lib|[a-z]+)_version")
NOT_READ = re.compile(r"[a-z]+_comm_state")  # what NCCL says about its communicators


class Dump(NamedTuple):
    """A dump: its value, the size of the decompressed file, and warnings about the file."""

    value: dict[Any, Any]
    bytes: int
    warnings: list[SourceWarning]


def read_dump(path: Path, progress: Progress) -> Dump:
    """Read a dump. Raise ProfileError if it is damaged or no dump."""
    with path.open("rb") as file:
        is_pickle = next(blocks(file), b"")[:1] == b"\x80"
    if is_pickle:
        stream = read_pickle(path, MAX_HELD_BYTES, progress)
        dump = Dump(stream.value, stream.read_bytes, stream.warnings)
    else:
        text = _text(path, progress)
        try:
            dump = Dump(json.loads(text), len(text), [])
        except (ValueError, RecursionError) as error:
            raise ProfileError(f"{path}: not valid JSON: {error}") from error
    if type(dump.value) is not dict or not KNOWN_KEYS & dump.value.keys():
        raise ProfileError(f"{path}: not a dump of the flight recorder")
    dump.warnings.extend(_newer(dump.value))
    known = frozenset(key for key in dump.value if _is_known(key)) | KNOWN_KEYS
    dump.warnings.extend(unread("the dump has", [dump.value], known))
    return dump


def _text(path: Path, progress: Progress) -> bytes:
    text = bytearray()
    with path.open("rb") as file:
        try:
            for block in blocks(file):
                text += block
                progress(file.tell())
                if len(text) > LONGEST:
                    raise ProfileError(f"{path}: longer than {LONGEST:,} bytes of JSON")
        except (EOFError, OSError) as error:
            raise ProfileError(f"{path}: {error}") from error
    return bytes(text)


def _is_known(key: Any) -> bool:
    return type(key) is str and bool(LIBRARY_VERSION.fullmatch(key) or NOT_READ.fullmatch(key))


def _newer(value: dict[Any, Any]) -> Iterator[SourceWarning]:
    """Yield a warning if the dump has no known version. Versions are pairs of integers."""
    version = value.get("version")
    found = VERSION.fullmatch(version) if type(version) is str else None
    if found is None:
        yield SourceWarning("dump_version_unknown", "the dump does not record its version")
    elif (int(found[1]), int(found[2])) > NEWEST:
        newest = ".".join(map(str, NEWEST))
        message = f"version {found[0]} is newer than {newest}: new fields are not read"
        yield SourceWarning("dump_version_newer", message)


def versions_of(value: dict[Any, Any]) -> tuple[str | None, str | None]:
    """Return the version of the dump, and that of the communication library."""
    version = value.get("version")
    libraries = (value[key] for key in value if key != "version" and _is_known(key))
    library = next((text for text in libraries if type(text) is str and text), None)
    return version if type(version) is str else None, library
