"""The run directory: where it is, what its files are called, and how they appear in it."""

import json
import math
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from capture.errors import CaptureError
from capture.sigterm import writing

VARIABLES = ("TRACEHOUSE_PROFILE_DIR", "CACHE_DIT_TORCH_PROFILER_DIR")
DEFAULT_DIRECTORY = "profiles"


@contextmanager
def provisional(directory: Path) -> Iterator[None]:
    """Make `directory`, and take it away again if the body leaves it empty.

    Raises CaptureError if it cannot be made.
    """
    make(directory)
    process = os.getpid()
    try:
        yield
    finally:
        if os.getpid() == process:  # not a fork of it
            with suppress(OSError):  # there is something in it
                directory.rmdir()


def check_empty(directory: Path) -> None:
    """Raises CaptureError where there is something in `directory`, or it is none."""
    if directory.exists() and make(directory):
        raise CaptureError(f"{directory} is not empty: a run needs a directory of its own")


def choose(directory: str | Path | None, name: str, process: str) -> Path:
    """The directory for a run, made where there is none.

    It is the one given, else `<name>` in that of TRACEHOUSE_PROFILE_DIR, of
    CACHE_DIT_TORCH_PROFILER_DIR, or in `profiles`. Where this process (`rank0`) finished a run
    before, it is the first of `<directory>-2`, `<directory>-3`, ... where it did not: so all ranks
    come to the same one without asking each other. Raises CaptureError where it cannot be made.
    """
    first = (default_parent() / name if directory is None else Path(directory)).expanduser()
    first = first.absolute()
    numbered = (first.with_name(f"{first.name}-{number}") for number in count(2))
    chosen = first
    while process_path(chosen, process).exists():
        chosen = next(numbered)
    make(chosen)
    return chosen


def default_parent() -> Path:
    """Where directories of runs go that are not named otherwise."""
    return Path(next(filter(None, map(os.environ.get, VARIABLES)), DEFAULT_DIRECTORY))


def file_name(name: str | None) -> str:
    """The name as a part of a path; the script's where there is none."""
    named = name or Path(sys.argv[0] if sys.argv else "").stem or "profile"
    return re.sub(r"[^\w.+ -]", "_", named).strip(" .")[:120] or "profile"


class Files(NamedTuple):
    """The files of a process (`rank0`, ...) of the run `name`, in the run's directory."""

    directory: Path
    name: str
    process: str

    def trace(self, cycle: int | None = None) -> Path:
        """A trace; `cycle` counts from 1 where there can be several."""
        of_cycle = "" if cycle is None else f"-cycle{cycle}"
        return self._file(f"{of_cycle}.trace.json.gz")

    @property
    def snapshot(self) -> Path:
        """The memory snapshot."""
        return self._file("-memory.pickle")

    @property
    def execution_trace(self) -> Path:
        """The execution trace: what went into each operator, and what came out."""
        return self._file(".et.json.gz")

    @property
    def compile_log(self) -> Path:
        """Torch's structured compile log."""
        return self._file(".compile.log.gz")

    @property
    def description(self) -> Path:
        """The description of the process. It is written last."""
        return process_path(self.directory, self.process)

    def _file(self, ending: str) -> Path:
        return self.directory / f"{self.name}-{self.process}{ending}"


def process_path(directory: Path, process: str) -> Path:
    """Where a process is described, e.g. `rank0.json`."""
    return directory / f"{process}.json"


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write one JSON object. Raises CaptureError if the file cannot be written."""
    text = json.dumps(_plain(content), indent=2, ensure_ascii=False)
    with appearing(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8", errors="replace")


def read_json(path: Path) -> dict[str, Any]:
    """Read one JSON object. Raises CaptureError where the file holds none."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise CaptureError(f"{path}: cannot be read: {error}") from error


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """Give the body a path beside `path` to write to; `path` appears by rename when the body ends.

    Nothing is left behind when the body fails. Raises CaptureError if the file cannot be written.
    """
    # The suffix stays: torch compresses a trace when the name it is given ends in .gz.
    temporary = path.with_name(f".{path.name}.partial{path.suffix}")
    try:
        with writing():
            yield temporary
            temporary.replace(path)
    except OSError as error:
        raise CaptureError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def _plain(value: Any) -> Any:
    """`value` as JSON knows it: numbers of arrays as numbers, and none that is not finite."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    with suppress(Exception):
        return _plain(value.item())
    return str(value)


def make(directory: Path) -> bool:
    """Makes the directory; whether there is something in it. Raises CaptureError."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        return any(directory.iterdir())
    except OSError as error:
        raise CaptureError(f"cannot make the directory {directory}: {error.strerror}") from error
