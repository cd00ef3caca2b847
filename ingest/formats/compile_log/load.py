"""Loading of compile logs into the scratch database."""

import json
import re
from typing import Any

from ingest.errors import ProfileError
from ingest.formats.compile_log.events import Clock, Phases, Resets
from ingest.formats.compile_log.graphs import OF_GRAPHS, Graphs
from ingest.formats.compile_log.reader import CompileLog, Record
from ingest.formats.compile_log.rows import Rows
from ingest.formats.source import MAX_RANKS, Source, SourceWarning
from ingest.formats.staging import Progress, Staging
from ingest.units import counted

METRICS = {"compilation_metrics", "bwd_compilation_metrics"}
FIELDS = (
    "co_name", "co_filename", "co_firstlineno", "start_time", "start_time_us", "duration_us",
    "entire_frame_compile_time_s", "graph_op_count", "guard_count", "num_graph_breaks",
    "restart_reasons", "fail_type", "fail_reason", "recompile_reason",
)  # fmt: skip
NOTES = {"recompile_reasons", "dynamo_graph_break_reason", "chromium_event"}
IN_BREAK = re.compile(
    r"(?:.*?Graph Break Reason: )?(?P<reason>.*?)\s*"
    r"(?:\nUser code traceback:\n(?P<stack>.*?)\s*)?(?:\nTraceback \(most recent call last\).*)?",
    re.DOTALL,
)


def load(source: Source, staging: Staging, progress: Progress) -> None:
    """Read a compile log into the staged tables, and fill in the attributes of `source`.

    Raise ProfileError if the file holds no compile log.
    """
    log = CompileLog(source.path, OF_GRAPHS | NOTES, progress)
    rows = Rows(staging, source.source_id)
    phases, graphs, clock, resets = Phases(log.dropped), Graphs(), Clock(), Resets()
    try:
        for record in log.records():
            event = record.json() if record.name == "chromium_event" else None
            record.reset = resets.count(record, event)
            if record.name in OF_GRAPHS:
                if graph := graphs.add(record):
                    rows.add_graph(graph)
            elif record.name in METRICS:
                if graph := graphs.end(record.compile_id):
                    rows.add_graph(graph)
            elif record.name == "chromium_event":
                if event is None:
                    log.dropped["unreadable phase"] += 1
                elif (at_us := clock.set(event, record)) is not None:
                    for phase in phases.add(event, record.compile_id, at_us):
                        rows.add("staged_compile_phases", *phase, record.reset)
            if note := _note(log, record, event):
                rows.add_record(record, clock.time_ns(record), *note)
        for graph in graphs.rest():
            rows.add_graph(graph)
        rows.flush()
    except (ProfileError, OSError) as error:
        rows.discard()
        if isinstance(error, ProfileError):
            raise
        raise ProfileError(f"{source.path}: {error.strerror or error}") from error
    if phases.open:
        log.dropped["phase without an end"] += phases.open
    if graphs.unreadable:
        log.dropped["unreadable provenance"] += graphs.unreadable
    if log.skipped:
        lines = counted(log.skipped, "line")
        source.warn("start_damaged", f"skipped {lines} before the first record: unreadable")
    if log.cut:
        source.status = "truncated"
        source.coded_warnings.insert(
            0, SourceWarning("truncated", f"the log is truncated: {log.cut}")
        )
    source.events, source.json_bytes = log.count, log.bytes
    source.dropped = dict(log.dropped)
    source.pid = log.pid
    source.metadata = {"pid": log.pid}
    if log.rank is not None:
        source.metadata["rank"] = log.rank
        if log.rank in range(MAX_RANKS):
            source.rank = log.rank


def _note(
    log: CompileLog, record: Record, event: dict[str, Any] | None
) -> tuple[str, str | None, str | None] | None:
    """Return a record's note about its compilation: kind, text, and stack of the user's code.

    `event` is the content of a `chromium_event`.
    """
    name, payload = record.name, record.payload
    if name in METRICS and isinstance(record.content, dict):
        fields = {key: record.content[key] for key in FIELDS if key in record.content}
        return name, json.dumps(fields), None
    if name == "dynamo_start" and isinstance(record.content, dict):
        return name, None, "\n".join(log.stack(record.content.get("stack")))
    if name == "recompile_reasons":
        return name, payload and _reasons(payload), None
    if name == "dynamo_graph_break_reason" and (found := IN_BREAK.fullmatch(payload or "")):
        return name, found["reason"], found["stack"]
    if name.startswith("fx_graph_cache_"):
        return "cache", name.removeprefix("fx_graph_cache_"), None
    if event:
        state = str(event.get("name")).removeprefix("fx_graph_cache_")
        if event.get("ph") == "i" and state != event.get("name"):
            return "cache", state, None
    return None


def _reasons(payload: str) -> str:
    """Return the reasons as text. Some versions of torch write a JSON list of them."""
    try:
        reasons = json.loads(payload)
    except (ValueError, RecursionError):
        return payload
    return "\n".join(map(str, reasons)) if isinstance(reasons, list) else payload
