"""Repair of the pieces of a trace that DuckDB did not accept as events."""

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from functools import partial

import duckdb
import pyarrow as pa

from ingest.formats.io import Content
from ingest.formats.json_text import EVENT_START
from ingest.formats.kineto.backslashes import PLACEHOLDER
from ingest.formats.kineto.chunks import LONG_PIECE, PIECE_SCHEMA, Piece, batch_of
from ingest.formats.kineto.damage import (
    BACKSLASHES,
    EVENT_LIMIT,
    NOT_EVENT,
    TOO_LONG,
    Found,
    read_piece,
)
from ingest.formats.kineto.parse import parse
from ingest.formats.kineto.reader import KinetoTrace
from ingest.formats.source import Source
from ingest.memory_limit import MORE, memory_limit
from ingest.units import counted

PAGE = 100_000
ORDINALS = 1_000_000_000_000


def repair_events(
    connection: duckdb.DuckDBPyConnection, source: Source, trace: KinetoTrace
) -> None:
    """Replace the rejected pieces by the events in them, and find the end of the array.

    Warn of repaired and dropped pieces, count the dropped ones in `source.dropped`, and read the
    metadata of `trace`.
    """
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE rejected AS SELECT event_id % $2 AS ordinal, "
        "(args ->> 'from_byte')::BIGINT AS from_byte, (args ->> 'to_byte')::BIGINT AS to_byte "
        "FROM staged WHERE source_id = $1 AND phase IS NULL",
        [source.source_id, ORDINALS],
    )
    with closing(trace.content()) as content:
        repair = Repair(connection, source.source_id, trace, content)
        repair.read()
        trace.finish(content, repair.array_end, repair.lost)
    source.dropped = dict(repair.dropped)
    for fault, events in (+repair.repaired).items():
        source.warn("events_repaired", f"{counted(events, 'event')} repaired: {fault}")
    for reason, pieces in repair.dropped.items():
        source.warn(
            "pieces_dropped",
            f"{counted(pieces, 'piece')} of traceEvents left out: {reason}, "
            f"the first at byte {repair.first_dropped[reason]:,}",
        )


class Repair:
    """One pass over the rejected pieces of a trace, in file order.

    `array_end`: position of the array's `]`, or None if the file has none. Then `lost` is the
    number of bytes after the last complete event.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        source_id: int,
        trace: KinetoTrace,
        content: Content,
    ) -> None:
        self.array_end: int | None = None
        self.lost = 0
        self.dropped: Counter[str] = Counter()
        self.first_dropped: dict[str, int] = {}
        self.repaired: Counter[str] = Counter()
        if trace.has_literal_backslashes:
            self.repaired[BACKSLASHES] = trace.backslashes
        self._connection = connection
        self._source_id = source_id
        self._trace = trace
        self._content = content
        self._events: list[Piece] = []  # to be written
        self._characters = 0
        self._next_number = trace.pieces  # for further events of the same piece
        self._damage: Found | None = None  # may continue in the next piece

    def read(self) -> None:
        """Read all rejected pieces and write the events in them."""
        self._delete("phase IS NULL", 0, self._trace.pieces)
        position, before = 0, -1
        for ordinal, start, end, followed in self._rejected():
            if start < position:  # an event extends into this piece, and so contains those between
                self._delete("true", before + 1, ordinal)
            elif before + 1 < ordinal:
                self._end_damage()
            before = ordinal
            number = ordinal
            self._forget_backslashes(start, end)
            is_end = partial(self._is_end, followed)
            for found in read_piece(self._content, max(start, position), end, is_end):
                position = found.end
                if found.event:
                    self._keep(number, found)
                    number, self._next_number = self._next_number, self._next_number + 1
                elif found.reason:
                    self._drop(found)
                else:
                    self.array_end = found.start
            if self.array_end is not None:
                self._delete("true", ordinal + 1, self._trace.pieces)
                break
        if self._damage and self.array_end is None and self._damage.end == self._trace.json_bytes:
            self.lost = self._damage.end - self._damage.start
            self._damage = None
        self._end_damage()
        self._write()
        self._count_refused()

    def _rejected(self) -> Iterator[tuple[int, int, int, bool]]:
        """Yield number, start and end of each rejected piece, and whether events follow it."""
        query = "FROM rejected WHERE ordinal > $1 ORDER BY ordinal LIMIT $2"
        left = self._connection.execute("SELECT count(*) FROM rejected").fetchall()[0][0]
        last = -1
        while page := self._connection.execute(query, [last, PAGE]).fetchall():
            for last, start, end in page:
                yield last, start, end, self._trace.pieces - last > left
                left -= 1

    def _forget_backslashes(self, start: int, end: int) -> None:
        """Do not count a rejected piece with backslashes. Its events count when they are kept."""
        if self.repaired[BACKSLASHES]:
            self._content.forget(start)
            piece = self._content.read(start, end - start)
            self.repaired[BACKSLASHES] -= PLACEHOLDER.encode() in piece

    def _is_end(self, followed: bool, position: int, in_damage: bool) -> bool:
        if followed and in_damage:
            return False
        return self._trace.is_end(self._content, position, in_damage)

    def _keep(self, number: int, found: Found) -> None:
        self._end_damage()
        if found.fault:
            self.repaired[found.fault] += 1
        if len(found.event) > LONG_PIECE:
            self._write()
        self._events.append((number, found.start, found.end, found.event))
        self._characters += len(found.event)
        if self._characters > LONG_PIECE:
            self._write()

    def _drop(self, found: Found) -> None:
        """Count a dropped element, or extend the damage before it unless it looks like an event."""
        start = self._content.read(found.start, 64).decode("latin-1")
        if self._damage and not EVENT_START.match(start):
            self._damage = self._damage._replace(end=found.end)
            return
        self._end_damage()
        if found.reason in (NOT_EVENT, TOO_LONG):
            self._count(found.reason, 1, found.start)
        else:
            self._damage = found

    def _end_damage(self) -> None:
        if damage := self._damage:
            too_long = damage.end - damage.start > EVENT_LIMIT
            self._count(TOO_LONG if too_long else damage.reason, 1, damage.start)
        self._damage = None

    def _count(self, reason: str, number: int, position: int) -> None:
        self.dropped[reason] += number
        self.first_dropped.setdefault(reason, position)

    def _write(self) -> None:
        """Parse the events collected so far. A long event is parsed alone, with more memory."""
        if not self._events:
            return
        _, first, _, _ = self._events[0]
        pieces = pa.RecordBatchReader.from_batches(PIECE_SCHEMA, [batch_of(*self._events)])
        is_long = self._characters > LONG_PIECE
        with memory_limit(self._connection, MORE if is_long else None):
            try:
                parse(self._connection, self._source_id, pieces)
            except duckdb.OutOfMemoryException:
                self._count(TOO_LONG, len(self._events), first)
        self._events, self._characters = [], 0

    def _count_refused(self) -> None:
        """Count and delete the pieces that DuckDB still does not accept as events."""
        [(refused, position)] = self._connection.execute(
            "SELECT count(*), min((args ->> 'from_byte')::BIGINT) FROM staged "
            "WHERE source_id = $1 AND phase IS NULL",
            [self._source_id],
        ).fetchall()
        if refused:
            self._count(NOT_EVENT, refused, position)
            self._delete("phase IS NULL", 0, self._next_number)

    def _delete(self, condition: str, start: int, end: int) -> None:
        """Delete the rows of pieces `start` to `end` (exclusive) that meet the condition."""
        if start < end:
            first = self._source_id * ORDINALS
            self._connection.execute(
                f"DELETE FROM staged WHERE event_id >= $1 AND event_id < $2 AND {condition}",
                [first + start, first + end],
            )
