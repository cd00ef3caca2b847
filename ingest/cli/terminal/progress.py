"""The progress bars of `ingest add` and of rebuilds, and the messages for each path or run."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ingest.conversion import AddOptions
from ingest.errors import IngestError
from ingest.inputs.run_input import IN_DIRECTORY_BELOW, MOST_BELOW
from ingest.store.storage import Added, Storage
from ingest.units import counted, printable

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


def add_with_progress(
    store: Storage,
    paths: list[Path],
    options: AddOptions,
    jobs: int,
    cluster: str | None,
    as_json: bool,
) -> bool:
    """Add the paths, show the progress, and print the outcome of each.

    Return whether all of them were added without an error.
    """
    paths = list(dict.fromkeys(paths))
    failed = False
    with _Bars() as bars:
        for path in paths:
            bars.add(path, printable(path.name))
        with closing(store.add_all(paths, options, jobs, bars.advance, cluster)) as outcomes:
            for path, outcome in outcomes:
                bars.remove(path)
                failed |= _report(path, outcome, as_json)
    return not failed


def rebuild_with_progress(
    store: Storage, run_ids: list[str], jobs: int, cluster: str | None
) -> list[str]:
    """Rebuild the runs, show the progress, and print the outcome of each.

    Return the ids of the runs that could not be rebuilt.
    """
    failed = []
    with _Bars() as bars:
        for run_id in run_ids:
            bars.add(run_id, run_id)
        with closing(store.rebuild_all(run_ids, jobs, bars.advance, cluster)) as outcomes:
            for run_id, outcome in outcomes:
                bars.remove(run_id)
                if isinstance(outcome, IngestError):
                    say_error(outcome)
                    failed.append(run_id)
                else:
                    print(f"rebuilt {run_id}")
    return failed


@contextmanager
def progress_of(noun: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that shows how many things are done, of how many. Only a terminal shows it.

    `noun` names the things.
    """
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn(noun), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(noun, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


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


class _Bars:
    """The progress bars of paths or runs, which only a terminal shows."""

    def __init__(self) -> None:
        self._progress = _progress() if sys.stderr.isatty() else None
        self._tasks: dict[object, TaskID] = {}

    def __enter__(self) -> "_Bars":
        if self._progress:
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress:
            self._progress.stop()

    def add(self, item: object, label: str) -> None:
        if self._progress:
            self._tasks[item] = self._progress.add_task(label, total=1)

    def advance(self, item: object, done: float) -> None:
        """Show the share of an item's work that is done, 0 to 1."""
        if self._progress and item in self._tasks:
            self._progress.update(self._tasks[item], completed=done)

    def remove(self, item: object) -> None:
        if self._progress:
            self._progress.remove_task(self._tasks.pop(item))


def _progress() -> "Progress":
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )


def _report(path: Path, outcome: Added | IngestError, as_json: bool) -> bool:
    """Print the outcome of adding a path. Return whether one of its files failed."""
    if isinstance(outcome, IngestError):
        say_error(outcome)
        return True
    failed = [source for source in outcome.sources if source.status == "failed"]
    for source in failed:
        say_error(source.message("unreadable"))
    truncated = {
        source.path: source.message("truncated")
        for source in outcome.sources
        if source.status == "truncated"  # its intact events are kept: not a failure
    }
    for file, reason in truncated.items():
        print(printable(f"{file}: truncated: {reason}"), file=sys.stderr)
    if as_json:
        print(json.dumps(outcome.as_dict(path)))
    elif not outcome.is_new:
        print(
            printable(f"{path}: already in the store as {outcome.run_id}; its labels are unchanged")
        )
    else:
        print(f"{outcome.run_id}  ({outcome.seconds:.1f} s)")
        below = 0
        for source in outcome.sources:
            if IN_DIRECTORY_BELOW in source.warning_codes:
                below += 1
            else:
                print(printable(f"  {source.summary()}"))
        if below:
            more = " or more" if below == MOST_BELOW else ""
            print(f"  {counted(below, 'file')}{more} in directories of the run, not read")
    return bool(failed)
