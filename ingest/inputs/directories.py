"""Search for run directories below a path, by TensorBoard's rules."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from ingest.errors import ProfileError
from ingest.formats import FORMATS, recognise
from ingest.inputs import graph_captures, run_json
from ingest.units import natural_order

BOARD_TRACE = re.compile(r".+\.pt\.trace\.json(\.gz)?", re.IGNORECASE)


def run_directories(path: Path) -> list[Path]:
    """Return the paths of the runs at `path`, in order of their names.

    A log directory of TensorBoard has one run in each directory below it that holds traces named
    `*.pt.trace.json[.gz]`. Any other path is a single run. Links and hidden directories are not
    followed. Traces of captures belong to the run around them.
    """
    found = []
    is_run = False
    for directory, below, files in _walk(path):
        below[:] = sorted(name for name in below if not name.startswith("."))
        if directory != path and any(map(BOARD_TRACE.fullmatch, files)):
            found.append(directory)
        elif directory == path:
            is_run = run_json.NAME in files or any(_is_profile(path / name) for name in files)
    runs = {path, *found} if is_run else set(found)
    of_runs = {run / name for run in runs for name in graph_captures.DIRECTORIES}
    found = [directory for directory in found if directory not in of_runs]
    return [path, *found] if not found or is_run else found


def files_below(path: Path) -> Iterator[Path]:
    """Yield the files in directories below a run's path that are not read.

    It leaves out hidden files, other runs and traces of captures.
    """
    for directory, below, files in _walk(path):
        below[:] = sorted((name for name in below if name[0] != "."), key=natural_order)
        is_read = directory.parent == path and directory.name in graph_captures.DIRECTORIES
        if directory != path and not is_read and not any(map(BOARD_TRACE.fullmatch, files)):
            for name in sorted(files, key=natural_order):
                if name[0] != ".":
                    yield directory / name


def _walk(path: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Yield what `os.walk` yields, also for a path on object storage."""
    if isinstance(path, Path):
        for directory, below, files in os.walk(path):
            yield Path(directory), below, files
    else:
        yield from path.walk()


def _is_profile(file: Path) -> bool:
    try:
        return recognise(file, FORMATS)[0] is not None
    except (OSError, ProfileError):
        return False
