"""Reading the traces of a run into the scratch database, piece by piece."""

import re
import time
from collections import Counter
from collections.abc import Callable
from itertools import chain, islice
from typing import Any

import duckdb
import pyarrow as pa

from ingest import sql
from ingest.formats.kineto import DECODER, EVENT_SCHEMA, LONGEST_REPAIR, KinetoTrace
from ingest.redact import IN_NAME, SUSPECT, redact_json, redact_text
from ingest.source import Source

BETWEEN = re.compile(rb"[\s,]+")
REDACTED_ROWS = 10_000
CONTROL = re.compile(r"[\x00-\x1f]")
NAME = re.compile(  # and the key after it, which tells where a name with quotes in it ends
    r'("name"\s*:\s*")(.*?)("\s*,\s*"(?:ph|cat|pid|tid|id|ts|dur|args|s|bp)"\s*:)', re.DOTALL
)
BARE_QUOTE = re.compile(r'(?<!\\)((?:\\\\)*)"')


def stage_trace(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    progress: Callable[[int], None] | None = None,
    redacting: bool = True,
) -> None:
    """Reads a Kineto trace into table `staged` and fills in what `source` says of it.

    With `redacting`, secrets in names and arguments are redacted.

    Raises ProfileError where the file holds no trace.
    """
    began = time.perf_counter()
    trace = KinetoTrace(source.path, progress)
    batches = trace.batches()
    first = list(islice(batches, 1))  # what is wrong with a file as a whole shows here, by name
    pieces = pa.RecordBatchReader.from_batches(EVENT_SCHEMA, chain(first, batches))
    _parse(connection, source.source_id, pieces)
    _repair(connection, source, trace)
    if redacting:
        _redact(connection, source)
    source.json_bytes = trace.json_bytes
    source.metadata = trace.metadata
    source.warnings = trace.warnings + source.warnings
    if trace.truncated:
        source.status = "truncated"
    _count(connection, source)
    source.seconds = round(time.perf_counter() - began, 3)


def _parse(
    connection: duckdb.DuckDBPyConnection, source_id: int, pieces: pa.RecordBatchReader
) -> None:
    connection.register("pieces", pieces)
    connection.execute(sql.script("load/parse"), {"source_id": source_id})
    connection.unregister("pieces")


def _repair(connection: duckdb.DuckDBPyConnection, source: Source, trace: KinetoTrace) -> None:
    """Reads again, one by one, the pieces that DuckDB could not take for events.

    A piece may be part of an event that was cut inside, or hold bytes that JSON does not allow:
    what can be read of it replaces it.
    """
    rejected = connection.execute(
        "SELECT event_id % 1_000_000_000_000 AS ordinal, (args ->> 'from_byte')::BIGINT, "
        "(args ->> 'to_byte')::BIGINT FROM staged "
        "WHERE source_id = $1 AND phase IS NULL ORDER BY ordinal",
        [source.source_id],
    ).fetchall()
    if not rejected:
        return
    spans = [(offset, _neighbours_end(rejected, i)) for i, (_, offset, _) in enumerate(rejected)]
    events: list[dict[str, Any]] = []
    repaired: Counter[str] = Counter()
    lost: list[int] = []
    read_to = 0
    for (ordinal, offset, end), content in zip(rejected, trace.slices(spans), strict=True):
        read_to = max(read_to, offset)
        while read_to < end:
            own, beyond = content[read_to - offset : end - offset], content[read_to - offset :]
            length, event, fault = (
                _first_event(own) or _first_event(beyond) or _requoted_event(own) or (0, "", "")
            )
            if not length:
                lost.append(offset)
                break
            if event:
                events.append({"ordinal": ordinal, "offset": read_to, "event": event})
                ordinal = trace.pieces + len(events)  # of a further event in the same piece
            if fault:
                repaired[fault] += 1
            read_to += length
    connection.execute(
        "DELETE FROM staged WHERE source_id = $1 AND phase IS NULL "
        "AND NOT list_contains($2, (args ->> 'from_byte')::BIGINT)",
        [source.source_id, lost],
    )
    if events:
        table = pa.Table.from_pylist(events).cast(EVENT_SCHEMA)
        _parse(connection, source.source_id, table.to_reader())
    source.warnings += [
        f"{_pieces(count, 'event')} repaired: {fault}" for fault, count in repaired.items()
    ]
    if lost:
        source.warnings.append(
            f"{_pieces(len(lost))} of traceEvents no event and left out, "
            f"the first at byte {lost[0]}"
        )


def _neighbours_end(rejected: list[tuple[int, int, int]], place: int) -> int:
    """Where the last of the rejected pieces ends that follow this one without a gap."""
    last = place
    while (
        last + 1 < len(rejected)
        and last - place < LONGEST_REPAIR
        and rejected[last + 1][0] == rejected[last][0] + 1
    ):
        last += 1
    return rejected[last][2]


def _first_event(content: bytes) -> tuple[int, str, str] | None:
    """How many bytes the event takes that `content` begins with, its text, and what was mended.

    Bytes between events count without a text; None for what cannot be read.
    """
    if between := BETWEEN.match(content):
        return between.end(), "", ""
    text = content.decode("utf-8", "surrogateescape")
    try:
        event, end = DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(event, dict) or "ph" not in event:
        return None
    found = text[:end]
    clean = CONTROL.sub(" ", found.encode("utf-8", "replace").decode())
    same = repr(DECODER.decode(clean)) == repr(event)  # by repr, because NaN is not NaN
    fault = "" if same else "characters that JSON does not allow"
    return len(found.encode("utf-8", "surrogateescape")), clean, fault


def _requoted_event(content: bytes) -> tuple[int, str, str] | None:
    """The event that `content` is once the quotes in its name are escaped, as torch leaves them."""
    text = content.decode("utf-8", "surrogateescape")
    mended, count = NAME.subn(lambda m: m[1] + BARE_QUOTE.sub(r'\1\\"', m[2]) + m[3], text, count=1)
    found = _first_event(mended.encode("utf-8", "surrogateescape")) if count else None
    return found and (len(content), found[1], "quotes in its name were not escaped")


def _redact(connection: duckdb.DuckDBPyConnection, source: Source) -> None:
    """Takes secrets out of names and arguments, before anything but `staged` has seen them."""
    suspects = connection.cursor().execute(
        sql.script("load/suspects"),
        {"source_id": source.source_id, "in_name": IN_NAME, "in_args": SUSPECT},
    )
    count = 0
    while rows := suspects.fetchmany(REDACTED_ROWS):
        redacted = [
            (event_id, name and redact_text(name), redact_json(args))
            for event_id, name, args in rows
        ]
        changed = [new for new, old in zip(redacted, rows, strict=True) if new != old]
        if changed:
            columns = dict(
                zip(("event_id", "name", "args"), zip(*changed, strict=True), strict=True)
            )
            connection.register("redacted", pa.table(columns))
            connection.execute(
                "UPDATE staged SET name = redacted.name, args = redacted.args "
                "FROM redacted WHERE staged.event_id = redacted.event_id"
            )
            connection.unregister("redacted")
        count += len(changed)
    if count:
        source.warnings.append(f"{_pieces(count, 'event')} held what looks like a secret: redacted")


def _pieces(count: int, noun: str = "piece") -> str:
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"


def _count(connection: duckdb.DuckDBPyConnection, source: Source) -> None:
    """Every event of the file is a row of `events` or `other_events`, or counted as dropped."""
    reasons = connection.execute(
        """
        SELECT
            CASE
                WHEN side IS NOT NULL THEN 'complete'
                WHEN phase IS NULL THEN 'no event'
                WHEN phase <> 'X' THEN 'phase ' || phase
                WHEN name IS NULL THEN 'complete event without a name'
                WHEN relative_ns IS NULL THEN 'complete event without a valid ts'
                WHEN dur_ns IS NULL THEN 'complete event without a valid dur'
                ELSE 'complete event with a negative dur'
            END AS reason,
            count(*)
        FROM staged
        WHERE source_id = $1
        GROUP BY reason
        ORDER BY reason
        """,
        [source.source_id],
    ).fetchall()
    counts = dict(reasons)
    source.events = sum(counts.values())
    source.complete = counts.pop("complete", 0)
    source.dropped = {reason: counts.pop(reason) for reason in ("no event",) if reason in counts}
    source.other = counts
    source.warnings += [
        f"{_pieces(count, 'event')} kept in other_events only: {reason}"
        for reason, count in counts.items()
        if reason.startswith("complete event")
    ]
