"""The list of input formats. Each is a package here, which no other one knows."""

from ingest.formats.compile_log.recognition import is_compile_log
from ingest.formats.execution_trace.recognition import is_execution_trace
from ingest.formats.flight_recorder.recognition import is_flight_recorder
from ingest.formats.format import Format, Loader
from ingest.formats.graph_annotations.recognition import is_graph_annotations
from ingest.formats.kineto.recognition import is_trace
from ingest.formats.megengine.recognition import is_megengine
from ingest.formats.memory_timeline.recognition import is_timeline
from ingest.formats.snapshot.recognition import is_snapshot

# The format of a file is the first one that recognises it.
FORMATS = (
    Format(
        "compile_log",
        noun="record",
        encoding="log",
        suffix=r"(\.compile)?\.log",
        recognise=is_compile_log,
        load=Loader("ingest.formats.compile_log"),
    ),
    Format(
        "kineto",
        noun="event",
        encoding="JSON",
        suffix=r"(\.pt)?(\.trace)?\.json",
        recognise=is_trace,
        load=Loader("ingest.formats.kineto"),
        has_events=True,
        is_chrome_trace=True,
    ),
    Format(
        "megengine",
        noun="operator time",
        encoding="JSON",
        suffix=r"\.json",
        recognise=is_megengine,
        load=Loader("ingest.formats.megengine"),
        has_events=True,
        framework="megengine",
    ),
    Format(
        "execution_trace",
        noun="node",
        encoding="JSON",
        suffix=r"(\.et)?\.json",
        recognise=is_execution_trace,
        load=Loader("ingest.formats.execution_trace"),
    ),
    Format(
        "graph_annotations",
        noun="node",
        encoding="JSON",
        suffix=r"\.json",
        recognise=is_graph_annotations,
        load=Loader("ingest.formats.graph_annotations"),
    ),
    Format(
        "flight_recorder",
        noun="collective",
        encoding="dump",
        suffix=r"\.(json|pickle|pkl)",
        recognise=is_flight_recorder,
        load=Loader("ingest.formats.flight_recorder"),
        name_ends_with_rank=True,
    ),
    Format(
        "memory_snapshot",
        noun="allocator action",
        encoding="pickle",
        suffix=r"(\.pt)?(\.trace)?\.(pickle|pkl)",
        recognise=is_snapshot,
        load=Loader("ingest.formats.snapshot"),
    ),
    Format(
        "memory_timeline",
        noun="allocator action",
        encoding="JSON",
        suffix=r"\.json",
        recognise=is_timeline,
        load=Loader("ingest.formats.memory_timeline"),
    ),
)
