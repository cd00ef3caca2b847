"""The input formats: what each is called, how its files are recognised, and how they are read."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from ingest.formats.compile_log.recognition import is_compile_log
from ingest.formats.execution_trace.recognition import is_execution_trace
from ingest.formats.kineto.recognition import is_trace
from ingest.formats.megengine.recognition import is_megengine
from ingest.formats.memory_timeline.recognition import is_timeline
from ingest.formats.snapshot.recognition import is_snapshot
from ingest.formats.source import Source
from ingest.formats.staging import Progress, Staging


@dataclass(frozen=True)
class Format:
    """An input format. `kind` is its name in column `kind` of table `sources`.

    `recognise`: whether a file that begins with these bytes, decompressed, is of the format; while
    no format recognises the file, each is asked again with more bytes.
    `load`: reads a file into the staged tables, and fills in what `source` says of it. It raises
    ProfileError where the file cannot be read, and then leaves nothing of it in these tables.
    `noun`: what `sources.events` counts, in the singular. `encoding`: what the decompressed file
    consists of. `suffix`: the end of file names that is no part of a run's name, as a regular
    expression. `has_events`: whether it fills table `staged`, from which `events` comes; clocks
    and process ids of the other files of a run are compared with those of such files.
    `framework`: what wrote the files, for `runs.framework`.
    """

    kind: str
    noun: str
    encoding: str
    suffix: str
    recognise: Callable[[bytes], bool]
    load: Callable[[Source, Staging, Progress], None]
    has_events: bool = False
    framework: str = "pytorch"


@dataclass(frozen=True)
class Loader:
    """The function `load` of a package's module `load`.

    It is imported for the first file that it reads: all formats together take 60 ms.
    """

    package: str

    def __call__(self, source: Source, staging: Staging, progress: Progress) -> None:
        """Reads a file, as `Format.load` says."""
        import_module(f"ingest.formats.{self.package}.load").load(source, staging, progress)


# The first format that recognises a file is the file's.
FORMATS = (
    Format(
        "compile_log",
        noun="record",
        encoding="log",
        suffix=r"(\.compile)?\.log",
        recognise=is_compile_log,
        load=Loader("compile_log"),
    ),
    Format(
        "kineto",
        noun="event",
        encoding="JSON",
        suffix=r"(\.pt)?(\.trace)?\.json",
        recognise=is_trace,
        load=Loader("kineto"),
        has_events=True,
    ),
    Format(
        "megengine",
        noun="operator time",
        encoding="JSON",
        suffix=r"\.json",
        recognise=is_megengine,
        load=Loader("megengine"),
        has_events=True,
        framework="megengine",
    ),
    Format(
        "execution_trace",
        noun="node",
        encoding="JSON",
        suffix=r"(\.et)?\.json",
        recognise=is_execution_trace,
        load=Loader("execution_trace"),
    ),
    Format(
        "memory_snapshot",
        noun="allocator action",
        encoding="pickle",
        suffix=r"(\.pt)?(\.trace)?\.(pickle|pkl)",
        recognise=is_snapshot,
        load=Loader("snapshot"),
    ),
    Format(
        "memory_timeline",
        noun="allocator action",
        encoding="JSON",
        suffix=r"\.json",
        recognise=is_timeline,
        load=Loader("memory_timeline"),
    ),
)
