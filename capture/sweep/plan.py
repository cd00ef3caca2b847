"""What a sweep is to do, and the directory that holds what it has done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

from capture.errors import CaptureError
from capture.output.run_directory import file_name, make, write_json
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
        return file_name(f"{words[0]}-{Path(path).name}")

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
        """The plan as JSON has it."""
        return dict(json.loads(json.dumps(asdict(self))))


def open_directory(plan: Plan, asked: Path | None, default: Path, tag: str) -> tuple[Path, str]:
    """The directory of a sweep, made where there is none, and the sweep's tag.

    One that holds the same plan goes on. Of a directory that was not asked for, the first of
    `<default>`, `<default>-2`, … serves that is free or holds this plan. Raises CaptureError for
    one that holds something else.
    """
    for directory in [asked] if asked else _numbered(default):
        file = directory / FILE
        if file.exists():
            known = _read(file)
            if known["plan"] == plan.content:
                return directory, known["tag"]
            if asked:
                raise CaptureError(
                    f"{directory} holds another sweep: `{known['tag']}`, with other options; name "
                    "another directory with --out"
                )
        elif not directory.exists() or not any(directory.iterdir()):
            make(directory)
            write_json(file, {"tag": tag, "plan": plan.content})
            return directory, tag
        elif asked:
            raise CaptureError(f"{directory} is not empty, and holds no sweep")
    raise AssertionError("there is always another number")


def _numbered(first: Path) -> Iterator[Path]:
    yield first
    yield from (first.with_name(f"{first.name}-{number}") for number in count(2))


def _read(file: Path) -> dict[str, Any]:
    try:
        known = dict(json.loads(file.read_text(encoding="utf-8")))
        return {"tag": str(known["tag"]), "plan": known["plan"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CaptureError(f"{file}: is not the file of a sweep: {error}") from error
