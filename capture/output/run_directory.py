"""The run directory: its path, the names of its files, and atomic writing."""

import gzip
import json
import math
import os
import re
import shutil
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
FLIGHT_RECORDER = "flight_recorder"  # in the names of its dumps
CALIBRATION = "calibration.json"  # of `capture calibrate`, in a run directory or around it


@contextmanager
def provisional(directory: Path) -> Iterator[None]:
    """Create `directory`, and remove it again if the body leaves it empty.

    Raises CaptureError if it cannot be created.
    """
    make(directory)
    process = os.getpid()
    try:
        yield
    finally:
        if os.getpid() == process:  # a fork must not remove it
            with suppress(OSError):  # fails if the directory is not empty
                directory.rmdir()


def check_empty(directory: Path) -> None:
    """Raise CaptureError if `directory` is not empty or is not a directory.

    A calibration may be there, because the run carries it.
    """
    if not directory.exists() or not make(directory):
        return
    if any(entry.name != CALIBRATION for entry in directory.iterdir()):
        raise CaptureError(f"{directory} is not empty; choose a new or empty directory for the run")


def choose(directory: str | Path | None, name: str, process: str) -> Path:
    """Choose the directory for a run, create it if necessary, and return it.

    The default is `<name>` in the directory that TRACEHOUSE_PROFILE_DIR or
    CACHE_DIT_TORCH_PROFILER_DIR names, else in `profiles`. If this process (`rank0`) has finished a
    run there before, the choice is the first of `<directory>-2`, `<directory>-3`, ... without one.
    Thus all ranks choose the same directory without communication. Raises CaptureError if the
    directory cannot be created.
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
    """Return the default parent of run directories."""
    return Path(next(filter(None, map(os.environ.get, VARIABLES)), DEFAULT_DIRECTORY))


def file_name(name: str | None) -> str:
    """Return the name as a part of a path. The default is the name of the script."""
    named = name or Path(sys.argv[0] if sys.argv else "").stem or "profile"
    return re.sub(r"[^\w.+ -]", "_", named).strip(" .")[:120] or "profile"


class Files(NamedTuple):
    """The paths of the files of one process (`rank0`, ...) of the run `name`."""

    directory: Path
    name: str
    process: str

    def trace(self, cycle: int | None = None, suffix: str = ".trace.json.gz") -> Path:
        """Return the path of a trace. `cycle` counts from 1; it is None for a single trace."""
        of_cycle = "" if cycle is None else f"-cycle{cycle}"
        return self._file(f"{of_cycle}{suffix}")

    @property
    def graph_annotations(self) -> Path:
        """The path of the annotations of the nodes of CUDA graphs."""
        return self._file(".graph_annotations.json.gz")

    @property
    def snapshot(self) -> Path:
        """The memory snapshot."""
        return self._file("-memory.pickle")

    @property
    def execution_trace(self) -> Path:
        """The execution trace: the inputs and outputs of each operator."""
        return self._file(".et.json.gz")

    @property
    def compile_log(self) -> Path:
        """Torch's structured compile log."""
        return self._file(".compile.log.gz")

    def flight_recorder(self, part: str = "") -> Path:
        """Return the path of a dump of torch's flight recorder: of `-cycle2`, of the `-end`, …

        Torch's tools expect the rank at the end of the name.
        """
        return self.directory / f"{self.name}{part}-{FLIGHT_RECORDER}-{self.process}"

    @property
    def description(self) -> Path:
        """The description of the process. It is written last."""
        return process_path(self.directory, self.process)

    def _file(self, ending: str) -> Path:
        return self.directory / f"{self.name}-{self.process}{ending}"


def process_path(directory: Path, process: str) -> Path:
    """Return the path of the description of a process, e.g. `rank0.json`."""
    return directory / f"{process}.json"


def of_another(path: Path, name: str, process: str, another: str) -> str | None:
    """Return the name of a file of `process` for `another`, or None if it is another's file."""
    dumps = rf"(?:-\w+)?-{FLIGHT_RECORDER}"
    named = rf"({re.escape(name)}(?:{dumps})?-){re.escape(process)}((?:[-.].*)?)"
    found = re.fullmatch(named, path.name)
    return f"{found[1]}{another}{found[2]}" if found else None


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write one JSON object. Raises CaptureError if the file cannot be written."""
    text = json.dumps(_plain(content), indent=2, ensure_ascii=False)
    with atomic_write(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8", errors="replace")


def read_json(path: Path) -> dict[str, Any]:
    """Read one JSON object. Raises CaptureError if the file does not contain one."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise CaptureError(f"{path}: cannot be read: {error}") from error


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Write `path` atomically: yield a temporary path and rename it when the body ends.

    If the body fails, the temporary file is removed. Raises CaptureError if the file cannot be
    written.
    """
    # Keep the suffix: torch compresses a trace if its name ends in .gz.
    temporary = path.with_name(f".{path.name}.partial{path.suffix}")
    try:
        with writing():
            yield temporary
            temporary.replace(path)
    except OSError as error:
        raise CaptureError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def copy_trace(trace: Path, target: str) -> None:
    """Copy a compressed trace. It is decompressed unless the target's name ends in .gz."""
    opened = open if target.endswith(".gz") else gzip.open
    with opened(trace, "rb") as content, open(target, "wb") as copy:
        shutil.copyfileobj(content, copy)


def _plain(value: Any) -> Any:
    """Return `value` as JSON types: array scalars become numbers, non-finite numbers None."""
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
    """Create the directory. Return whether it has content. Raises CaptureError."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        return any(directory.iterdir())
    except OSError as error:
        raise CaptureError(f"cannot create the directory {directory}: {error.strerror}") from error
