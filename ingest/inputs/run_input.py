"""A run's input: the files of a run directory, or a single file, and what its run.json says."""

import hashlib
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ingest.errors import ProfileError
from ingest.formats.io import kind_of, sha256
from ingest.formats.json_text import nests_deeper, without_lone_surrogates
from ingest.formats.source import PROFILE_KINDS, Source, SourceWarning
from ingest.inputs.metadata import MOST_RANKS

RUN_JSON = "run.json"
RANK_JSON = re.compile(r"rank\d+\.json")  # beside run.json: the same keys, said by one rank
TRACE_NAME = re.compile(r"\.json(\.gz)?$", re.IGNORECASE)
RUN_JSON_LIMIT = 1 << 20
PROFILE_SUFFIXES = re.compile(
    r"(\.pt)?(\.trace)?\.(json|pickle|pkl)(\.gz)?$|(\.compile)?\.log(\.gz)?$|\.gz$"
)

DESCRIPTION_TYPES = {
    **dict.fromkeys(
        ("name", "model", "mode", "framework", "framework_version", "device_name", "started_at"),
        str,
    ),
    "world_size": int,
    "tags": dict,
}


@dataclass
class RunInput:
    """What is to become one run: its files, in order of their names."""

    path: Path
    sources: list[Source]
    description: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The run.json's name, else the directory's, else the file's without its suffixes."""
        named = self.description.get("name")
        if isinstance(named, str) and named:
            return named
        return PROFILE_SUFFIXES.sub("", self.path.resolve().name) or self.path.resolve().name

    @property
    def checksums(self) -> list[str]:
        """The SHA-256 of each file, sorted: what the content is, whatever the names."""
        return sorted(source.sha256 for source in self.sources)

    @property
    def digest(self) -> str:
        """The SHA-256 of the content: the same files give the same digits anywhere."""
        return hashlib.sha256("\n".join(self.checksums).encode()).hexdigest()

    @property
    def bytes(self) -> int:
        """Size of all files on disk, bytes."""
        return sum(source.bytes for source in self.sources)


def read_run_input(path: Path) -> RunInput:
    """Looks at a run directory or a single file: the head and the checksum of each file.

    Raises ProfileError for a path that is missing, unreadable or without any profile.
    """
    try:
        files = _files(path)
        directory = path if path.is_dir() else None
        sources = [_source(number, file, directory) for number, file in enumerate(files)]
        _skip_copies(sources)
        description = _description(path, sources)
    except OSError as error:
        raise ProfileError(f"{error.filename or path}: {error.strerror or error}") from error
    if not any(source.is_profile for source in sources):
        for source in sources:
            if source.status == "failed":
                raise ProfileError(source.message("unreadable"))
        raise ProfileError(_nothing_to_read(path, sources))
    return RunInput(path, sources, description)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(
            file
            for file in path.iterdir()
            if (file.is_symlink() or not file.is_dir()) and not file.name.startswith(".")
        )
    if not path.exists():
        raise ProfileError(f"{path}: no such file or directory")
    if not path.is_file():
        raise ProfileError(f"{path}: not a regular file")
    return [path]


def _source(number: int, file: Path, directory: Path | None) -> Source:
    try:
        if directory and (reason := _not_followed(file, directory)):
            source = Source(number, file, "other", 0, "", status="skipped")
            source.warn(*reason)
            return source
        kind, fault = ("run_json", "") if file.name == RUN_JSON else kind_of(file)
        source = Source(number, file, kind, file.stat().st_size, sha256(file))
        if kind == "other" and not fault and _is_of_a_rank(file):
            source.metadata = _json_object(file)
            source.kind = "run_json"
            return source
    except OSError as error:
        source = Source(number, file, "other", 0, "")
        source.fail(f"{file}: {error.strerror or error}")
        return source
    except ProfileError as error:
        fault = str(error).removeprefix(f"{file}: ")
    if fault and (TRACE_NAME.search(file.name) or not directory):
        source.fail(f"{file}: {fault}")
    elif kind not in ("run_json", *PROFILE_KINDS):
        source.status = "skipped"
        source.warn("not_a_profile", "not a profile")
    return source


def _not_followed(file: Path, directory: Path) -> SourceWarning | None:
    """Why an entry of a run directory is not read: the directory may come from anywhere."""
    target = file.resolve(strict=True)
    if not target.is_relative_to(directory.resolve()):
        return SourceWarning("link_not_followed", "a link out of the directory, not followed")
    if not target.is_file():
        return SourceWarning("not_a_file", "not a regular file")
    return None


def _is_of_a_rank(file: Path) -> bool:
    return bool(RANK_JSON.fullmatch(file.name)) and file.with_name(RUN_JSON).exists()


def _skip_copies(sources: list[Source]) -> None:
    """Of the same content only one is read, and that a file rather than a link to it."""
    first: dict[str, Source] = {}
    for source in sorted(sources, key=lambda source: source.path.is_symlink()):
        if source.is_profile and first.setdefault(source.sha256, source) is not source:
            source.status = "skipped"
            name = first[source.sha256].path.name
            source.warn("same_content", f"the same content as {name}")


def _json_object(file: Path) -> dict[str, Any]:
    if file.stat().st_size > RUN_JSON_LIMIT:
        raise ProfileError(f"{file}: longer than {RUN_JSON_LIMIT:,} bytes")
    try:
        found = json.loads(without_lone_surrogates(file.read_text(encoding="utf-8-sig")))
        if nests_deeper(found):
            raise RecursionError("nested too deep")
    except (ValueError, RecursionError) as error:
        raise ProfileError(f"{file}: not valid JSON: {error}") from error
    if not isinstance(found, dict):
        raise ProfileError(f"{file}: not a JSON object")
    return found


def _description(path: Path, sources: list[Source]) -> dict[str, Any]:
    for source in sources:
        if source.path.name != RUN_JSON or source.status != "ok" or not path.is_dir():
            continue
        description = _json_object(source.path)
        for key, kind in DESCRIPTION_TYPES.items():
            if not isinstance(description.get(key), kind | None):
                raise ProfileError(f"{source.path}: {key} must be {kind.__name__}")
        if not 0 <= (description.get("world_size") or 0) <= MOST_RANKS:
            raise ProfileError(f"{source.path}: world_size must be from 0 to {MOST_RANKS:,}")
        return description
    return {}


def _nothing_to_read(path: Path, sources: list[Source]) -> str:
    if not path.is_dir():
        return f"{path}: no traceEvents: not a profiler trace"
    if any("link_not_followed" in source.warning_codes for source in sources):
        return f"{path}: no profile in this directory; links out of it are not followed"
    inside = sorted(entry.name for entry in path.iterdir() if entry.is_dir())
    hint = f"; did you mean a directory in it, such as {path / inside[0]}?" if inside else ""
    return f"{path}: no profile in this directory{hint}"
