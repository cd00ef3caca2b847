"""A run's input: the files of a run directory, or a single file, and what its run.json says."""

import hashlib
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ingest.errors import ProfileError
from ingest.formats.files import kind_of, sha256
from ingest.source import Source

RUN_JSON = "run.json"
MOST_RANKS = 1_000_000
RANK_IN_NAME = re.compile(r"(?<![a-z])rank[-_]?(\d{1,6})(?!\d)", re.IGNORECASE)
PROFILE_SUFFIXES = re.compile(r"(\.pt)?(\.trace)?\.(json|pickle|pkl)(\.gz)?$|\.gz$")

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
        sources = [_source(number, file) for number, file in enumerate(files)]
        description = _description(path, sources)
    except OSError as error:
        raise ProfileError(f"{error.filename or path}: {error.strerror or error}") from error
    if not any(source.kind == "kineto" for source in sources):
        for source in sources:
            if source.status == "failed":
                raise ProfileError(source.warnings[0])
        raise ProfileError(_nothing_to_read(path, sources))
    return RunInput(path, sources, description)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(
            file
            for file in path.iterdir()
            if (file.is_file() or file.is_symlink()) and not file.name.startswith(".")
        )
    if not path.exists():
        raise ProfileError(f"{path}: no such file or directory")
    return [path]


def _source(number: int, file: Path) -> Source:
    try:
        kind = "run_json" if file.name == RUN_JSON else kind_of(file)
        source = Source(number, file, kind, file.stat().st_size, sha256(file))
    except OSError as error:
        source = Source(number, file, "other", 0, "", status="failed")
        source.warnings.append(f"{file}: {error.strerror or error}")
        return source
    if kind not in ("kineto", "run_json"):
        source.status = "skipped"
        source.warnings.append(
            "not a profile" if kind == "other" else f"{kind} files are not read yet"
        )
    return source


def _description(path: Path, sources: list[Source]) -> dict[str, Any]:
    for source in sources:
        if source.kind != "run_json" or not path.is_dir():
            continue
        try:
            description = json.loads(source.path.read_bytes())
        except (ValueError, RecursionError) as error:
            raise ProfileError(f"{source.path}: not valid JSON: {error}") from error
        if not isinstance(description, dict):
            raise ProfileError(f"{source.path}: not a JSON object")
        for key, kind in DESCRIPTION_TYPES.items():
            if not isinstance(description.get(key), kind | None):
                raise ProfileError(f"{source.path}: {key} must be {kind.__name__}")
        return description
    return {}


def _nothing_to_read(path: Path, sources: list[Source]) -> str:
    if not path.is_dir():
        kind = sources[0].kind
        if kind == "other" or kind == "run_json":
            return f"{path}: not a profiler trace"
        return f"{path}: {kind} files are not read yet"
    inside = sorted(entry.name for entry in path.iterdir() if entry.is_dir())
    hint = f"; did you mean a directory in it, such as {path / inside[0]}?" if inside else ""
    return f"{path}: no profiler trace in this directory{hint}"


def assign_ranks(sources: list[Source]) -> None:
    """Gives each trace its rank: from its content, else its file's name, else its place."""
    traces = [source for source in sources if source.kind == "kineto"]
    for place, source in enumerate(traces):
        distributed = source.metadata.get("distributedInfo")
        recorded = distributed.get("rank") if isinstance(distributed, dict) else None
        named = RANK_IN_NAME.search(source.path.name)
        if isinstance(recorded, int) and 0 <= recorded < MOST_RANKS:
            source.rank = recorded
        else:
            source.rank = int(named[1]) if named else place
    ranks = [source.rank for source in traces if source.status != "failed"]
    for source in traces:
        if ranks.count(source.rank) > 1:
            source.warnings.append(f"rank {source.rank} has {ranks.count(source.rank)} files")
