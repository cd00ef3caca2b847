"""What a sweep is to do, and the directory that holds what it has done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

from capture.errors import CaptureError
from capture.output.redact import redact
from capture.output.run_directory import file_name, make, read_json, write_json
from capture.sweep.variants import Axis, Variant, variants

FILE = "sweep.json"
WARMUP = 3  # enough for CUDA graphs, which are recorded in the second and third call


@dataclass(frozen=True)
class Plan:
    """What was asked for; the same plan goes on where it was interrupted.

    subject  words that begin each command: a pipeline and its options, or a function
    tries    words of --try
    axes     what else varies
    repeat   processes that time each variant
    calls    timed calls in each
    """

    subject: tuple[str, ...]
    tries: tuple[str, ...]
    axes: tuple[Axis, ...]
    repeat: int
    calls: int

    @property
    def is_function(self) -> bool:
        """Whether the subject is a function of the user's."""
        return self.subject[0] == "function"

    @property
    def name(self) -> str:
        """What it is of: `flux-tiny`, the model, or the function."""
        words = self.subject
        if self.is_function:
            return file_name(words[1].rpartition(":")[2])
        model = next((word for word in words if word.startswith("--model")), None)
        if not model:
            return f"{words[0]}-tiny"
        path = model.partition("=")[2] or words[words.index(model) + 1]
        return file_name(f"{words[0]}-{Path(redact(path)).name}")

    @property
    def variants(self) -> list[Variant]:
        """All variants, eager ones first."""
        return variants(self.tries, self.axes)

    def command(self, variant: Variant) -> list[str]:
        """The command line of `capture` for a variant, but for what becomes of it."""
        given = [
            f"--argument={name}={value}" if self.is_function else f"--{name}={value}"
            for name, value in variant.options.items()
        ]
        command, *others = self.subject
        return [command, f"--warmup={WARMUP}", *others, *variant.compile_options, *given]

    @property
    def content(self) -> dict[str, Any]:
        """The plan as JSON has it, without secrets."""
        return dict(redact(json.loads(json.dumps(asdict(self)))))


def open_directory(plan: Plan, asked: Path | None, default: Path, tag: str) -> tuple[Path, str]:
    """The directory of a sweep, made where there is none, and the sweep's tag.

    One that holds the same plan goes on. Of a directory that was not asked for, the first of
    `<default>`, `<default>-2`, … serves that is free, or holds this plan and is not finished: what
    was finished may be out of date. Raises CaptureError for one that holds something else.
    """
    for directory in [asked] if asked else _numbered(default):
        is_empty = not make(directory)
        file = directory / FILE
        if file.exists():
            known = _read(file)
            if known["plan"] == plan.content and (asked or not is_finished(plan, directory)):
                return directory, known["tag"]
            if asked:
                raise CaptureError(
                    f"{directory} holds another sweep: `{known['tag']}`, with other options; name "
                    "another directory with --out"
                )
        elif is_empty:
            write_json(file, {"tag": tag, "plan": plan.content})
            return directory, tag
        elif asked:
            raise CaptureError(f"{directory} is not empty, and holds no sweep")
    raise AssertionError("there is always another number")


def finish(directory: Path) -> None:
    """Notes that the sweep in `directory` has done all that it was to do."""
    file = directory / FILE
    write_json(file, read_json(file) | {"finished": True})


def is_finished(plan: Plan, directory: Path) -> bool:
    """Whether nothing is left to do; a variant whose folder was removed is to be tried again."""
    folders = (directory / variant.folder for variant in plan.variants)
    return "finished" in read_json(directory / FILE) and all(map(Path.exists, folders))


def _numbered(first: Path) -> Iterator[Path]:
    yield first
    yield from (first.with_name(f"{first.name}-{number}") for number in count(2))


def _read(file: Path) -> dict[str, Any]:
    known = read_json(file)
    if not {"tag", "plan"} <= known.keys():
        raise CaptureError(f"{file}: is not the file of a sweep")
    return known
