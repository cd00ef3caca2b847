"""An input format: how its files are recognised and read."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Format:
    """An input format.

    `kind`: the name of the format in column `kind` of table `sources`.
    `noun`: a singular noun for the items that `sources.events` counts.
    `encoding`: the encoding of the decompressed file.
    `suffix`: a regular expression for the end of file names that is left out of a run's name.
    `recognise`: returns whether a file that begins with these decompressed bytes is of the format.
    It is called again with more bytes until a format recognises the file.
    `load`: reads a file into the staged tables and fills in the attributes of its source. The
    arguments are a `Source`, the `Staging` of the run, and a `Progress`. Raises ProfileError if the
    file is unreadable, and then leaves none of its rows in these tables.
    `has_events`: whether `load` fills table `staged`, which becomes `events`. The clocks and
    process ids of a run's other files are compared with those of such files.
    `is_chrome_trace`: whether the files are Chrome traces. Perfetto opens them, and an export
    copies the arguments of their events.
    `framework`: the framework that wrote the files, for `runs.framework`.
    `name_ends_with_rank`: whether a number at the end of the file's name is its rank.
    """

    kind: str
    noun: str
    encoding: str
    suffix: str
    recognise: Callable[[bytes], bool]
    load: Callable[..., None]
    has_events: bool = False
    is_chrome_trace: bool = False
    framework: str = "pytorch"
    name_ends_with_rank: bool = False


@dataclass(frozen=True)
class Loader:
    """The function `load` of the module `load` in a format's package.

    The module is imported on the first call, because importing all such modules takes 60 ms.
    """

    package: str

    def __call__(self, *arguments: Any) -> None:
        """Read a file; see `Format.load`."""
        import_module(f"{self.package}.load").load(*arguments)
