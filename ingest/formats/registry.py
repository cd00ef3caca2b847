"""The list of input formats: their names, and how their files are recognised and read."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from ingest.formats.compile_log.recognition import is_compile_log
from ingest.formats.execution_trace.recognition import is_execution_trace
from ingest.formats.graph_annotations.recognition import is_graph_annotations
from ingest.formats.kineto.recognition import is_trace
from ingest.formats.megengine.recognition import is_megengine
from ingest.formats.memory_timeline.recognition import is_timeline
from ingest.formats.snapshot.recognition import is_snapshot
from ingest.formats.source import Source
from ingest.formats.staging import Progress, Staging


@dataclass(frozen=True)
class Format:
    """An input format.

    `kind`: the name of the format in column `kind` of table `sources`.
    `noun`: a singular noun for the items that `sources.events` counts.
    `encoding`: the encoding of the decompressed file.
    `suffix`: a regular expression for the end of file names that is left out of a run's name.
    `recognise`: returns whether a file that begins with these decompressed bytes is of the format.
    It is called again with more bytes until a format recognises the file.
    `load`: reads a file into the staged tables and fills in the attributes of its `source`. Raises
    ProfileError if the file is unreadable, and then leaves none of its rows in these tables.
    `has_events`: whether `load` fills table `staged`, which becomes `events`. The clocks and
    process ids of a run's other files are compared with those of such files.
    `framework`: the framework that wrote the files, for `runs.framework`.
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
    """The function `load` of the module `load` in a format's package.

    The module is imported on the first call, because importing all such modules takes 60 ms.
    """

    package: str

    def __call__(self, source: Source, staging: Staging, progress: Progress) -> None:
        """Read a file; see `Format.load`."""
        import_module(f"ingest.formats.{self.package}.load").load(source, staging, progress)


# The format of a file is the first one that recognises it.
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
        "graph_annotations",
        noun="node",
        encoding="JSON",
        suffix=r"\.json",
        recognise=is_graph_annotations,
        load=Loader("graph_annotations"),
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
