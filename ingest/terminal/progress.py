"""The progress bars of `ingest add` and of rebuilds, and the messages for each path or run."""

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import TextIO

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

from ingest.errors import IngestError
from ingest.pipeline import AddOptions
from ingest.store.store import Added, Store
from ingest.store.workers import add_all, rebuild_all
from ingest.terminal.printing import diagnostics
from ingest.units import printable


def add_with_progress(
    store: Store, paths: list[Path], options: AddOptions, jobs: int, as_json: bool
) -> bool:
    """Add the paths, show the progress, and print the outcome of each.

    Return whether all of them were added without an error.
    """
    paths = list(dict.fromkeys(paths))
    failed = False
    with _progress() as progress:
        sizes = {path: _size(path) for path in paths}
        names = {path: printable(path.name) for path in paths}
        bars = {path: progress.add_task(names[path], total=sizes[path]) for path in paths}

        def advance(path: Path, done: int) -> None:
            is_read = done >= sizes[path]
            label = f"{names[path]}: linking and writing" if is_read else names[path]
            progress.update(bars[path], completed=done, description=label)

        with closing(add_all(store, paths, options, jobs, advance)) as outcomes:
            for path, outcome in outcomes:
                progress.remove_task(bars[path])
                failed |= _report(path, outcome, as_json)
    return not failed


def rebuild_with_progress(store: Store, run_ids: list[str], jobs: int) -> list[str]:
    """Rebuild the runs, show the progress, and print the outcome of each.

    Return the ids of the runs that could not be rebuilt.
    """
    failed = []
    with _progress() as progress:
        bars = {run_id: progress.add_task(run_id, total=None) for run_id in run_ids}

        def advance(run_id: str, done: int) -> None:
            progress.update(bars[run_id], completed=done)

        with closing(rebuild_all(store, run_ids, jobs, advance)) as outcomes:
            for run_id, outcome in outcomes:
                progress.remove_task(bars[run_id])
                if isinstance(outcome, IngestError):
                    say_error(outcome)
                    failed.append(run_id)
                else:
                    print(f"rebuilt {run_id}")
    return failed


def say_error(error: object) -> None:
    """Print an error to stderr."""
    print("\n".join(map(printable, f"error: {error}".strip().split("\n"))), file=sys.stderr)


def say_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning to stderr, in one line. This replaces `warnings.showwarning`."""
    print(f"warning: {printable(str(message))}", file=sys.stderr)


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TimeElapsedColumn(),
        console=diagnostics,
        transient=True,
        disable=not diagnostics.is_terminal,
    )


def _size(path: Path) -> int:
    try:
        files = path.iterdir() if path.is_dir() else [path]
        return sum(file.stat().st_size for file in files if file.is_file())
    except OSError:
        return 0  # reading the path will report the error


def _report(path: Path, outcome: Added | IngestError, as_json: bool) -> bool:
    """Print the outcome of adding a path. Return whether one of its files failed."""
    if isinstance(outcome, IngestError):
        say_error(outcome)
        return True
    failed = [source for source in outcome.sources if source.status == "failed"]
    for source in failed:
        say_error(source.message("unreadable"))
    for source in outcome.sources:
        if source.status == "truncated":  # its intact events are kept: not a failure
            reason = source.message("truncated")
            print(printable(f"{source.path}: truncated: {reason}"), file=sys.stderr)
    if as_json:
        print(json.dumps(outcome.as_dict(path)))
    elif not outcome.is_new:
        print(
            printable(f"{path}: already in the store as {outcome.run_id}; its labels are unchanged")
        )
    else:
        print(f"{outcome.run_id}  ({outcome.seconds:.1f} s)")
        for source in outcome.sources:
            print(printable(f"  {source.summary()}"))
    return bool(failed)
