"""The variants of a sweep: their names, their options, and the base of each comparison."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from capture.errors import UsageError
from capture.pipelines.compiling import MODES

EAGER = "eager"
# The words of --try and their options. An option may occur twice.
TRIES: Mapping[str, tuple[str, ...]] = {
    EAGER: ("--eager",),  # ignores the options of torch.compile
    **{mode: ("--compile", "--compile-mode", mode) for mode in MODES},
    "regional": ("--compile", "--regional"),
    "dynamic": ("--compile", "--dynamic"),
    "fullgraph": ("--compile", "--fullgraph"),
}
SIZE = "size"
PLAIN = re.compile(r"[\w.+-]+")
LONGEST_FOLDER = 60  # characters of up to four bytes; a file name can have 255 bytes
LEFT_OUT = "none"  # value of an axis that omits the option
DTYPE = "dtype"
# Options of a pipeline that change its intended output.
INPUTS = frozenset(
    {
        SIZE,
        *("height", "width", "batch", "steps", "tokens", "frames", "seed"),
        *("guidance", "prompt", "prompts", "negative-prompt", "image", "strength"),
    }
)


@dataclass(frozen=True)
class Axis:
    """An option that varies.

    name      an option of the pipeline's command without dashes, or a parameter of the function
    values    the values to try
    is_input  whether it changes the intended output. If so, a variant is compared with eager at the
              same value, otherwise with eager at the first value
    """

    name: str
    values: tuple[str, ...]
    is_input: bool = False


@dataclass(frozen=True)
class Variant:
    """One combination of a sweep.

    tried     its words of --try, joined by +
    settings  its value on each axis
    base      name of the variant that it is compared with; its own name if it is a base itself
    """

    tried: str
    settings: tuple[tuple[str, str], ...]
    base: str

    @property
    def name(self) -> str:
        """The name of the variant, e.g. `default 512 bfloat16`."""
        return name_of(self.tried, self.settings)

    @property
    def is_base(self) -> bool:
        """Whether other variants are compared with this one."""
        return self.name == self.base

    @property
    def folder(self) -> str:
        """The name of its directory, with a checksum if variants could have the same name."""
        readable = re.sub(r"[^\w.+-]+", "-", self.name)
        if len(readable) <= LONGEST_FOLDER and all(map(PLAIN.fullmatch, self.options.values())):
            return readable
        checksum = hashlib.sha256(self.name.encode("utf-8", "replace")).hexdigest()[:8]
        return f"{readable[:LONGEST_FOLDER]}-{checksum}"

    @property
    def compile_options(self) -> list[str]:
        """The command-line options of its words of --try."""
        return [option for word in self.tried.split("+") for option in TRIES[word]]

    @property
    def options(self) -> dict[str, str]:
        """Its settings as command-line options, by name without dashes."""
        found: dict[str, str] = {}
        for axis, value in self.settings:
            if axis == SIZE:
                found |= dict(zip(("height", "width"), map(str, size(value)), strict=True))
            elif value != LEFT_OUT:
                found[axis] = value
        return found


def name_of(tried: str, settings: Sequence[tuple[str, str]]) -> str:
    """Return the name of a variant: `AXIS=VALUE` for each axis, only VALUE for size and dtype."""
    parts = [
        value if axis in (SIZE, "dtype") else f"{axis}={value}"
        for axis, value in settings
        if value != LEFT_OUT
    ]
    return " ".join((tried, *parts))


def variants(tries: Sequence[str], axes: Sequence[Axis]) -> list[Variant]:
    """Return all combinations, eager ones first. Eager is always included.

    Raises UsageError for words that are not in `TRIES` or exclude each other, and for values or
    axes that occur twice.
    """
    for tried in tries:
        _check(tried)
    all_tries = list(dict.fromkeys((EAGER, *tries)))
    for axis in axes:
        if len(set(axis.values)) < len(axis.values):
            raise UsageError(f"--axis {axis.name}: a value occurs twice")
    for name, times in Counter(axis.name for axis in axes).items():
        if times > 1:
            raise UsageError(f"--axis {name}: this axis occurs twice")
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
    """Parse `512` or `768x1360`. Return height and width in pixels.

    Raise UsageError for other texts.
    """
    match = re.fullmatch(r"(\d+)(?:x(\d+))?", text)
    if not match:
        raise UsageError(f"--sizes {text}: must be a number of pixels or HEIGHTxWIDTH")
    return int(match[1]), int(match[2] or match[1])


def _check(tried: str) -> None:
    words = tried.split("+")
    for word in words:
        if word not in TRIES:
            raise UsageError(f"--try {word}: unknown; choose from {', '.join(TRIES)}")
    if EAGER in words and len(words) > 1:
        raise UsageError(
            f"--try {tried}: eager does not compile, so it cannot be joined with others"
        )
    if len([word for word in words if word in MODES]) > 1:
        raise UsageError(f"--try {tried}: has more than one mode of torch.compile")
