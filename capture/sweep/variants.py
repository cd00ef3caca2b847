"""The variants of a sweep: their names, their options, and what each is compared with."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from capture.errors import CaptureError
from capture.pipelines.compiling import MODES

EAGER = "eager"
# The words of --try, and the options that each stands for; an option may be there twice.
TRIES: Mapping[str, tuple[str, ...]] = {
    EAGER: ("--eager",),  # whatever of torch.compile holds for the others
    **{mode: ("--compile", "--compile-mode", mode) for mode in MODES},
    "regional": ("--compile", "--regional"),
    "dynamic": ("--compile", "--dynamic"),
    "fullgraph": ("--compile", "--fullgraph"),
}
SIZE = "size"
PLAIN = re.compile(r"[\w.+-]+")
LONGEST_FOLDER = 60  # characters; a letter can take four of the 255 bytes that a name has
LEFT_OUT = "none"  # a value of an axis: without the option
DTYPE = "dtype"
# Options of a pipeline that change what it is to make.
INPUTS = frozenset(
    {
        SIZE,
        *("height", "width", "batch", "steps", "tokens", "frames", "seed"),
        *("guidance", "prompt", "prompts", "negative-prompt", "image", "strength"),
    }
)


@dataclass(frozen=True)
class Axis:
    """What varies.

    name      an option of the pipeline's command, without its dashes; or a function's parameter
    values    what to try
    is_input  whether it changes what is to be made: a variant is then compared with eager at the
              same value, else with eager at the first value
    """

    name: str
    values: tuple[str, ...]
    is_input: bool = False


@dataclass(frozen=True)
class Variant:
    """One point of a sweep.

    tried     the words of --try that it is of, joined by +
    settings  its value on each axis
    base      name of the variant that it is compared with; its own where it is compared with none
    """

    tried: str
    settings: tuple[tuple[str, str], ...]
    base: str

    @property
    def name(self) -> str:
        """What people call it: `default 512 bfloat16`."""
        return name_of(self.tried, self.settings)

    @property
    def is_base(self) -> bool:
        """Whether others are compared with it."""
        return self.name == self.base

    @property
    def folder(self) -> str:
        """Its name as that of a directory; with a checksum where others could have the same."""
        readable = re.sub(r"[^\w.+-]+", "-", self.name)
        if len(readable) <= LONGEST_FOLDER and all(map(PLAIN.fullmatch, self.options.values())):
            return readable
        checksum = hashlib.sha256(self.name.encode("utf-8", "replace")).hexdigest()[:8]
        return f"{readable[:LONGEST_FOLDER]}-{checksum}"

    @property
    def compile_options(self) -> list[str]:
        """The options of torch.compile that its words stand for."""
        return [option for word in self.tried.split("+") for option in TRIES[word]]

    @property
    def options(self) -> dict[str, str]:
        """What its settings are on the command line, by the options' names without dashes."""
        found: dict[str, str] = {}
        for axis, value in self.settings:
            if axis == SIZE:
                found |= dict(zip(("height", "width"), map(str, size(value)), strict=True))
            elif value != LEFT_OUT:
                found[axis] = value
        return found


def name_of(tried: str, settings: Sequence[tuple[str, str]]) -> str:
    """The name of a variant; a value that is not a plain word has its axis before it."""
    said = [
        value if axis in (SIZE, "dtype") else f"{axis}={value}"
        for axis, value in settings
        if value != LEFT_OUT
    ]
    return " ".join((tried, *said))


def variants(tries: Sequence[str], axes: Sequence[Axis]) -> list[Variant]:
    """All combinations, those of eager first, which is always one of them.

    Raises CaptureError for words that are not of `TRIES` or exclude each other, and for values
    that occur twice.
    """
    for tried in tries:
        _check(tried)
    all_tries = list(dict.fromkeys((EAGER, *tries)))
    for axis in axes:
        if len(set(axis.values)) < len(axis.values):
            raise CaptureError(f"{axis.name}: a value stands there twice")
    for name, times in Counter(axis.name for axis in axes).items():
        if times > 1:
            raise CaptureError(f"axis {name} stands there twice")
    found = []
    for tried, values in product(all_tries, product(*(axis.values for axis in axes))):
        settings = tuple(zip((axis.name for axis in axes), values, strict=True))
        of_base = tuple(
            (axis.name, value if axis.is_input else axis.values[0])
            for axis, value in zip(axes, values, strict=True)
        )
        found.append(Variant(tried, settings, name_of(EAGER, of_base)))
    return found


def size(text: str) -> tuple[int, int]:
    """Height and width of `512` or `768x1360`, pixels. Raises CaptureError."""
    match = re.fullmatch(r"(\d+)(?:x(\d+))?", text)
    if not match:
        raise CaptureError(f"{text}: a size is a number of pixels, or HEIGHTxWIDTH")
    return int(match[1]), int(match[2] or match[1])


def _check(tried: str) -> None:
    words = tried.split("+")
    for word in words:
        if word not in TRIES:
            raise CaptureError(f"{word}: nothing to try; there are {', '.join(TRIES)}")
    if EAGER in words and len(words) > 1:
        raise CaptureError(f"{tried}: eager compiles nothing")
    if len([word for word in words if word in MODES]) > 1:
        raise CaptureError(f"{tried}: more than one mode of torch.compile")
