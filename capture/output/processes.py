"""The processes that a profiled program starts, and the ranks that they get in the run.

A process writes its files as `process-<program>-<process id>`. Once the program has ended, the
files get the names of a rank: the rank of the process in its job, or a free rank.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from capture.output.ranks import Job
from capture.output.run_directory import choose, of_another, process_path, write_json

REQUEST = "TRACEHOUSE_CAPTURE"  # environment variable with the path of the file with the request
_notes: list[Any] = []  # open files, so that their locks stay


def note_run(directory: Path) -> None:
    """Tell `capture run` of a finished run, if it has started this process or is this process."""
    if request := os.environ.get(REQUEST):
        with suppress(OSError), _noted(Path(request)).open("a", encoding="utf-8") as file:
            file.write(f"{directory}\n")


def noted_runs(request: Path) -> list[Path]:
    """Return the directories of all finished runs, once each. `request` is the request's file."""
    noted = _noted(request)
    lines = noted.read_text(encoding="utf-8").splitlines() if noted.exists() else []
    return [Path(line) for line in dict.fromkeys(lines)]


def _noted(request: Path) -> Path:
    return request.with_name("runs")


@dataclass(frozen=True)
class Child:
    """A process that a profiled program has started, and the names of its files.

    program         a random word that identifies the program
    inherited_rank  RANK of the process that started this one
    """

    program: str
    inherited_rank: str | None

    @property
    def label(self) -> str:
        """The label of this process in the names of its files."""
        return f"process-{self.program}-{os.getpid()}"

    @property
    def name(self) -> str:
        """The name that multiprocessing gives this process, or else the name of its script."""
        process = sys.modules.get("multiprocessing.process")
        if process and process.parent_process():
            return str(process.current_process().name)
        script = Path(sys.argv[0] if sys.argv else "").name
        return "python" if script in ("", "-c") else script

    def begins(self, directory: Path) -> None:
        """Create a note file in the run directory and lock it for the life of this process."""
        import fcntl

        note = (directory / f".{self.label}").open("w")
        fcntl.lockf(note, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _notes.append(note)

    def ends(self, directory: Path) -> None:
        """Remove the note file, once all files are written."""
        (directory / f".{self.label}").unlink(missing_ok=True)


def number(directory: Path, name: str, program: str, job: Job | None) -> list[Path]:
    """Rename the files of ended processes to their ranks. Return the directories with a run.

    `job` is the job of the program itself. A process in a job keeps its rank. If an earlier process
    had that rank, the files go to `<directory>-2`, as a separate run. The other processes get the
    free ranks after the jobs' ranks, in the order of their names.
    """
    found = {path.stem: _read(path) for path in directory.glob(f"process-{program}-*.json")}
    if not found:
        return [directory] if _numbers(directory) else []
    ranked = {
        label: description["rank"] for label, description in found.items() if "rank" in description
    }
    others = sorted(found.keys() - ranked.keys(), key=lambda label: _natural(found[label]))
    if not job and 0 in ranked.values() and process_path(directory, "rank0").exists():
        # The program took rank 0 without a job. A child has rank 0 in its job.
        label = f"process-{program}-0"
        _move(directory, name, "rank0", directory, label)
        others.insert(0, label)
    runs = {directory}
    for label in sorted(ranked, key=lambda label: (ranked[label], found[label]["started_at"])):
        target = choose(directory, name, f"rank{ranked[label]}")
        _move(directory, name, label, target, f"rank{ranked[label]}")
        runs.add(target)
    first = max([job.size if job else 0, *(found[label]["world_size"] for label in ranked)])
    for label in others:
        with _free_number(directory, first) as rank:
            _move(directory, name, label, directory, f"rank{rank}", rank)
    for run in runs:
        if numbers := _numbers(run):
            write_json(run / "run.json", _read(process_path(run, f"rank{numbers[0]}")))
    return sorted(filter(_numbers, runs))


def unfinished(directory: Path, program: str) -> tuple[list[int], list[int]]:
    """Return the ids of processes that still record, and of those that ended without files."""
    running, ended = [], []
    for note in directory.glob(f".process-{program}-*"):
        process = int(note.name.rpartition("-")[2])
        if _is_locked(note):
            running.append(process)
        else:
            ended.append(process)
            note.unlink(missing_ok=True)
    return sorted(running), sorted(ended)


def _is_locked(note: Path) -> bool:
    import fcntl

    with note.open("w") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def _read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8")))


def _natural(description: dict[str, Any]) -> list[tuple[bool, int, str]]:
    """Return a sort key in natural order: SpawnProcess-9 before SpawnProcess-10."""
    words = re.split(r"(\d+)", f"{description.get('process')} {description['started_at']}")
    return [(word.isdecimal(), int(word) if word.isdecimal() else 0, word) for word in words]


def _numbers(directory: Path) -> list[int]:
    """Return the ranks with a description in a run directory, ascending."""
    named = (re.fullmatch(r"rank(\d+)\.json", path.name) for path in directory.glob("rank*.json"))
    return sorted(int(found[1]) for found in named if found)


@contextmanager
def _free_number(directory: Path, first: int) -> Iterator[int]:
    """Claim the first free rank while the body runs: other programs may number processes too."""
    for rank in count(first):
        claim = directory / f".rank{rank}"
        if process_path(directory, f"rank{rank}").exists():
            continue
        try:
            claim.touch(exist_ok=False)
        except FileExistsError:
            continue
        try:
            if not process_path(directory, f"rank{rank}").exists():
                yield rank
                return
        finally:
            claim.unlink(missing_ok=True)


def _move(
    directory: Path, name: str, label: str, target: Path, process: str, rank: int | None = None
) -> None:
    """Rename the files of a process, the description last."""
    for path in directory.iterdir():
        if renamed := of_another(path, name, label, process):
            path.replace(target / renamed)
    described = process_path(directory, label)
    description = _read(described)
    write_json(
        process_path(target, process), description if rank is None else description | {"rank": rank}
    )
    described.unlink()
