"""A run's manifest, `<run>/manifest.json`: its files' checksums, and what a rebuild needs."""

import hashlib
import json
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from ingest import sql
from ingest.conversion import AddOptions
from ingest.errors import StoreError
from ingest.inputs import RunInput, content_digest
from ingest.redaction import redact

NAME = "manifest.json"


@dataclass(frozen=True)
class Manifest:
    """The versions that wrote a run, its origin, and its files.

    `path` is the absolute path of the run directory or file that was added. It is None if paths
    are redacted, or if it contains a secret. `checksums` are the checksums of the files that were
    read, sorted. `added_at` is the time when the run was added, UTC. `files` maps the names of the
    run's files to their size in bytes and their SHA-256.
    """

    schema_version: str
    logic_version: str
    path: str | None
    checksums: list[str]
    options: AddOptions
    added_at: str
    files: dict[str, tuple[int, str]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, run: RunInput, options: AddOptions, directory: Path, added_at: datetime
    ) -> "Manifest":
        """Return the manifest of a run whose tables have just been written to `directory`."""
        path = str(run.path.absolute())
        is_secret = not options.keep_metadata and redact(path) != path
        return cls(
            sql.schema_version(),
            sql.logic_version(),
            None if options.redact_paths or is_secret else path,
            run.checksums,
            replace(options, capture_traces=()) if options.redact_paths else options,
            added_at.isoformat(),
            _tables(directory),
        )

    @property
    def digest(self) -> str:
        """The digest of the files that were read, whose first digits are in the run's id."""
        return content_digest(self.checksums)

    def with_files_of(self, directory: Path) -> "Manifest":
        """Return the manifest with the files in a directory."""
        return replace(self, files=_tables(directory))

    def as_json(self, indent: int | None = None) -> str:
        """Return the manifest as JSON."""
        return json.dumps(asdict(self), indent=indent)

    def write(self, directory: Path) -> None:
        """Write the manifest to the run's directory."""
        (directory / NAME).write_text(self.as_json(indent=1), encoding="utf-8")


def write_files(directory: Path) -> None:
    """Write a manifest that has only the files, for tables that belong to no run."""
    (directory / NAME).write_text(json.dumps({"files": _tables(directory)}, indent=1))


class NewerError(StoreError):
    """A newer version of tracehouse wrote a run."""


def read_manifest(directory: Path) -> Manifest | None:
    """Return a run's manifest, or None if it is damaged or, as in older versions, missing.

    Raise NewerError if the manifest has fields or options that this version does not know.
    """
    try:
        text = (directory / NAME).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    return parse_manifest(directory.name.partition("=")[2], text)


def parse_manifest(run_id: str, text: str) -> Manifest | None:
    """Return the manifest of a run from its JSON. Otherwise as `read_manifest`."""
    if not (document := _parsed(text)) or (files := _files(document)) is None:
        return None
    try:
        options = document["options"]
        is_newer = document.keys() - _names(Manifest) or options.keys() - _names(AddOptions)
        if not is_newer:
            return Manifest(**document | {"options": AddOptions(**options), "files": files})
    except (KeyError, TypeError, AttributeError):
        return None
    raise NewerError(
        f"{run_id}: a newer version of tracehouse wrote this run; install that version to change it"
    )


def files_of(directory: Path) -> dict[str, tuple[int, str]] | None:
    """Return the size in bytes and the SHA-256 of a run's files, by name.

    Return None if the manifest is damaged or missing.
    """
    return _files(_document(directory) or {})


def _files(document: dict[str, Any]) -> dict[str, tuple[int, str]] | None:
    try:
        return {
            str(name): (int(size), str(digest))
            for name, (size, digest) in document["files"].items()
        }
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return None


def content_of(directory: Path) -> str:
    """Return a digest of a run's files: of its manifest or, without one, of sizes and times."""
    try:
        content = (directory / NAME).read_bytes()
    except OSError:
        files = sorted((each.name, each.stat()) for each in directory.iterdir())
        states = [(name, state.st_size, state.st_mtime_ns) for name, state in files]
        content = repr(states).encode(errors="surrogateescape")
    return hashlib.sha256(content).hexdigest()[:16]


def checksums(directory: Path) -> list[str]:
    """Return the checksums of the original files of a run, sorted; empty if they are unreadable.

    A run of an early version has no manifest. Its tables have the checksums too.
    """
    if document := _document(directory):
        with suppress(KeyError, TypeError):
            return sorted(map(str, document["checksums"]))
    with suppress(OSError, ValueError):  # removed meanwhile, or damaged
        stored = pq.ParquetFile(directory / "sources.parquet").read(["path", "sha256"])
        paths, digests = (stored[name].to_pylist() for name in ("path", "sha256"))
        files = dict(zip(paths, digests, strict=True))
        return sorted(sha256 for sha256 in files.values() if sha256 is not None)
    return []


def _document(directory: Path) -> dict[str, Any] | None:
    try:
        return _parsed((directory / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _tables(directory: Path) -> dict[str, tuple[int, str]]:
    return {file.name: size_and_sha256(file) for file in sorted(directory.glob("*.parquet"))}


def _names(kind: type) -> set[str]:
    return {each.name for each in fields(kind)}


def size_and_sha256(file: Path) -> tuple[int, str]:
    """Return the size of a file in bytes, and its SHA-256."""
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    return file.stat().st_size, digest
