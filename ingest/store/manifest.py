"""A run's manifest: its files with their checksums, and all that it takes to build it again.

<run>/manifest.json
"""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from ingest import sql
from ingest.inputs import RunInput
from ingest.pipeline import AddOptions
from ingest.redaction import redact

NAME = "manifest.json"


@dataclass(frozen=True)
class Manifest:
    """What wrote a run, what it was read from, and its files: bytes and SHA-256 by name.

    `path` is the absolute path of the run directory or file that was added; None where paths are
    redacted, or it holds a secret. `checksums` are those of the files that were read, sorted.
    `added_at` is when it was added, UTC.
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
        """The manifest of a run whose tables have just been written into `directory`."""
        path = str(run.path.absolute())
        is_secret = not options.keep_metadata and redact(path) != path
        return cls(
            sql.schema_version(),
            sql.logic_version(),
            None if options.redact_paths or is_secret else path,
            run.checksums,
            options,
            added_at.isoformat(),
            {file.name: measured(file) for file in sorted(directory.glob("*.parquet"))},
        )

    def write(self, directory: Path) -> None:
        """Writes it into the run's directory."""
        (directory / NAME).write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")


def read_manifest(directory: Path) -> Manifest | None:
    """A run's manifest; None where it has none, as runs of older versions, or a damaged one."""
    try:
        said: dict[str, Any] = json.loads((directory / NAME).read_text(encoding="utf-8"))
        files = {name: (int(size), str(digest)) for name, (size, digest) in said["files"].items()}
        return Manifest(**said | {"options": AddOptions(**said["options"]), "files": files})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def measured(file: Path) -> tuple[int, str]:
    """The size of a file in bytes, and its SHA-256."""
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    return file.stat().st_size, digest
