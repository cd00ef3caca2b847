"""The run directory: what its files are called, and how they appear in it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from capture.errors import CaptureError
from capture.run_json import RunJson


def create(directory: Path) -> None:
    """Make `directory` where there is none; an empty one will do.

    Raises CaptureError if it holds files already or cannot be made.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        used = any(directory.iterdir())
    except OSError as error:
        raise CaptureError(f"cannot make the directory {directory}: {error.strerror}") from error
    if used:
        raise CaptureError(f"{directory} is not empty: a run needs a directory of its own")


def trace_path(directory: Path, name: str, rank: int = 0) -> Path:
    """Where the trace of a rank belongs; ingest may look for the rank in its name."""
    return directory / f"{name}-rank{rank}.trace.json.gz"


def write_run_json(directory: Path, run: RunJson) -> None:
    """Write `run.json`; done last, it says that the run is complete."""
    with appearing(directory / "run.json") as temporary:
        temporary.write_text(json.dumps(asdict(run), indent=2) + "\n", encoding="utf-8")


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """Give the body a path beside `path` to write to; `path` appears by rename when the body ends.

    Nothing is left behind when the body fails. Raises CaptureError if the file cannot be written.
    """
    # The suffix stays: torch compresses a trace when the name it is given ends in .gz.
    temporary = path.with_name(f".{path.name}.partial{path.suffix}")
    try:
        yield temporary
        temporary.replace(path)
    except OSError as error:
        raise CaptureError(f"cannot write {path}: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)
