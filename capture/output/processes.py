"""The processes that a profiled program starts, and their place among the run's ranks.

A process writes its files as `process-<program's id>-<its id>`. Once the program has ended, they
become those of a rank: the process's own, or a free one.
"""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from capture.output.ranks import known_rank
from capture.output.run_directory import choose, process_path, write_json


@dataclass(frozen=True)
class Child:
    """This process, where a program that is profiled has started it.

    program         the program's process id
    inherited_rank  the program's own RANK
    """

    program: int
    inherited_rank: str | None

    @property
    def label(self) -> str:
        """What this process is called in the names of its files."""
        return f"process-{self.program}-{os.getpid()}"

    @property
    def rank(self) -> int | None:
        """The number of this process in its job; None where it has none of its own."""
        return known_rank(self.inherited_rank)

    @property
    def name(self) -> str:
        """What multiprocessing calls this process, else its script."""
        process = sys.modules.get("multiprocessing.process")
        if process and process.parent_process():
            return str(process.current_process().name)
        script = Path(sys.argv[0] if sys.argv else "").name
        return "python" if script in ("", "-c") else script

    def begins(self, directory: Path) -> None:
        """Notes in the run directory that this process records."""
        _note(directory, self.label).touch()

    def ends(self, directory: Path) -> None:
        """Takes the note away: all files are written."""
        _note(directory, self.label).unlink(missing_ok=True)


def number(directory: Path, name: str, program: int, size: int) -> list[Path]:
    """Gives the files of ended processes their ranks; returns the directories that hold a run.

    A process of a job keeps its rank: where another one had it before, the files go to
    `<directory>-2`, as a run of their own. The others, sorted by name, take the free numbers from
    `size` on, which is the size of the job that the program itself is in.
    """
    found = {path.stem: _read(path) for path in directory.glob(f"process-{program}-*.json")}
    if not found:
        return [directory] if _numbers(directory) else []
    ranked = {label: said["rank"] for label, said in found.items() if "rank" in said}
    others = sorted(found.keys() - ranked.keys(), key=lambda label: _natural(found[label]))
    if size == 1 and 0 in ranked.values() and process_path(directory, "rank0").exists():
        label = f"process-{program}-{program}"  # the program, which is in no job, makes room
        _move(directory, name, "rank0", directory, label)
        others.insert(0, label)
    runs = {directory}
    for label in sorted(ranked, key=lambda label: (ranked[label], found[label]["started_at"])):
        target = choose(directory, name, f"rank{ranked[label]}")
        _move(directory, name, label, target, f"rank{ranked[label]}")
        runs.add(target)
    for label in others:
        rank = next(filter(lambda n: _claim(directory, n), count(0 if size == 1 else size)))
        _move(directory, name, label, directory, f"rank{rank}", rank)
    for run in runs:
        if numbers := _numbers(run):
            write_json(run / "run.json", _read(process_path(run, f"rank{numbers[0]}")))
    return sorted(filter(_numbers, runs))


def unfinished(directory: Path, program: int) -> tuple[list[int], list[int]]:
    """Process ids of those that still record, and of those that ended without writing."""
    running, ended = [], []
    for note in directory.glob(f".process-{program}-*"):
        process = int(note.name.rpartition("-")[2])
        if _runs(process):
            running.append(process)
        else:
            ended.append(process)
            note.unlink(missing_ok=True)
    return sorted(running), sorted(ended)


def _note(directory: Path, label: str) -> Path:
    return directory / f".{label}"


def _read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8")))


def _natural(said: dict[str, Any]) -> list[tuple[bool, int, str]]:
    """Orders names with numbers in them: SpawnProcess-9, then SpawnProcess-10."""
    words = re.split(r"(\d+)", f"{said.get('process')} {said['started_at']}")
    return [(word.isdecimal(), int(word) if word.isdecimal() else 0, word) for word in words]


def _numbers(directory: Path) -> list[int]:
    """The ranks that have finished in a run directory."""
    named = (re.fullmatch(r"rank(\d+)\.json", path.name) for path in directory.glob("rank*.json"))
    return sorted(int(found[1]) for found in named if found)


def _claim(directory: Path, rank: int) -> bool:
    """Whether the number was free: another process of the job may be numbering its own."""
    try:
        process_path(directory, f"rank{rank}").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _move(
    directory: Path, name: str, label: str, target: Path, process: str, rank: int | None = None
) -> None:
    """Has the files of a process be called by another label, the description last."""
    for path in directory.iterdir():
        rest = path.name.removeprefix(f"{name}-{label}")
        if rest != path.name and rest[0] in "-.":
            path.replace(target / f"{name}-{process}{rest}")
    described = process_path(directory, label)
    said = _read(described)
    write_json(process_path(target, process), said if rank is None else said | {"rank": rank})
    described.unlink()


def _runs(process: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False
