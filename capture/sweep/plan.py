"""The plan of a sweep, and the directory with its results."""

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
WARMUP = 3  # enough for CUDA graphs, which the second and third call record


@dataclass(frozen=True)
class Plan:
    """The plan of a sweep. A sweep with an equal plan continues an interrupted one.

    subject  beginning of each command: a pipeline and its options, or a function
    tries    values of --try
    axes     the other options that vary
    repeat   processes that time each variant
    calls    timed calls in each process
    """

    subject: tuple[str, ...]
    tries: tuple[str, ...]
    axes: tuple[Axis, ...]
    repeat: int
    calls: int

    @property
    def is_function(self) -> bool:
        """Whether the subject is a user's function."""
        return self.subject[0] == "function"

    @property
    def name(self) -> str:
        """The name of the subject: `flux-tiny`, the pipeline with its model, or the function."""
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
        """Return the command line of `capture` for a variant, without options for its output."""
        settings = [
            f"--argument={name}={value}" if self.is_function else f"--{name}={value}"
            for name, value in variant.options.items()
        ]
        command, *others = self.subject
        return [command, f"--warmup={WARMUP}", *others, *variant.compile_options, *settings]

    @property
    def content(self) -> dict[str, Any]:
        """The plan as JSON types, without secrets."""
        return dict(redact(json.loads(json.dumps(asdict(self)))))


def open_directory(plan: Plan, requested: Path | None, default: Path, tag: str) -> tuple[Path, str]:
    """Choose the directory of a sweep and create it if necessary. Return it and the sweep's tag.

    A directory with the same plan continues that sweep. If `requested` is None, the choice is the
    first of `<default>`, `<default>-2`, … that is empty, or has this plan and is not finished:
    finished results may be out of date. Raises CaptureError if the directory `requested` has other
    content.
    """
    for directory in [requested] if requested else _numbered(default):
        is_empty = not make(directory)
        file = directory / FILE
        if file.exists():
            known = _read(file)
            if known["plan"] == plan.content and (requested or not is_finished(plan, directory)):
                return directory, known["tag"]
            if requested:
                raise CaptureError(
                    f"{directory} contains another sweep, `{known['tag']}`, with other options; "
                    "name another directory with --out"
                )
        elif is_empty:
            write_json(file, {"tag": tag, "plan": plan.content})
            return directory, tag
        elif requested:
            raise CaptureError(
                f"{directory} is not empty and contains no sweep; name another directory with --out"
            )
    raise AssertionError("the numbered directories are endless")


def finish(directory: Path) -> None:
    """Mark the sweep in `directory` as finished."""
    file = directory / FILE
    write_json(file, read_json(file) | {"finished": True})


def is_finished(plan: Plan, directory: Path) -> bool:
    """Return whether the sweep is finished. A variant without a folder has to run again."""
    folders = (directory / variant.folder for variant in plan.variants)
    return "finished" in read_json(directory / FILE) and all(map(Path.exists, folders))


def _numbered(first: Path) -> Iterator[Path]:
    yield first
    yield from (first.with_name(f"{first.name}-{number}") for number in count(2))


def _read(file: Path) -> dict[str, Any]:
    known = read_json(file)
    if not {"tag", "plan"} <= known.keys():
        raise CaptureError(f"{file}: is not the plan of a sweep")
    return known
