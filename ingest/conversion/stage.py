"""Reading of a run's files into the staged tables of a scratch database."""

import threading
import time
from collections.abc import Callable

import duckdb

from ingest.conversion.containment import AgainError, FilesError
from ingest.conversion.graph_captures import load_captures
from ingest.conversion.statements import Statements
from ingest.errors import ProfileError
from ingest.formats import Source, Staging, state_of
from ingest.formats.failure import is_of_a_file
from ingest.inputs import GRAPH_CAPTURE, RunInput, stage_compilations, stage_ranks

ALONE_BYTES = 4 << 20  # of a trace on disk; larger ones are read in turn, each by several threads


def stage_files(
    connection: duckdb.DuckDBPyConnection,
    run: RunInput,
    readers: int,
    progress: Callable[[float], None] | None,
) -> None:
    """Read the files of a run whose status is not `failed`, and add what they say about ranks.

    `readers`: number of small traces read at the same time. `progress`: called with the share of
    the files' bytes that is read, 0 to 1. Raise ProfileError if no profile can be read, FilesError
    if readers raise other exceptions, and AgainError if they do while others read.
    """
    staging = Staging(connection, run.sources)
    profiles = [file for file in run.sources if file.is_profile]
    captures = [file for file in run.sources if file.kind == GRAPH_CAPTURE]
    unread = [file for file in [*profiles, *captures] if file.status != "failed"]
    together = [file for file in unread if file.has_events and (file.bytes or 0) <= ALONE_BYTES]
    if len(together) < 2 or readers < 2:
        together = []
    known = {file.source_id for file in together}
    rest = [file for file in unread if file.source_id not in known]
    reading = _Reading(staging, sum(file.bytes or 0 for file in unread), progress)
    with Statements(connection, readers if together else 1) as statements:
        for done in [statements.submit(reading.read, source) for source in together]:
            done.result()
    if reading.errors:
        raise AgainError
    for source in rest:
        reading.read(connection, source)
    run.sources.sort(key=lambda source: source.source_id)
    run.read_checksums()
    if reading.errors:
        raise FilesError(reading.errors)
    if profiles and all(source.status == "failed" for source in profiles):
        reasons = (source.message("unreadable") for source in profiles)
        raise reading.failure or ProfileError(next(filter(None, reasons), ""))
    for source, description in run.descriptions:
        stage_compilations(source, description, staging)
    stage_ranks(connection, run.sources)


class _Reading:
    """Reads files on one or several threads.

    `errors`: unforeseen exceptions, by source id.
    """

    def __init__(
        self, staging: Staging, all_bytes: int, progress: Callable[[float], None] | None
    ) -> None:
        self.errors: dict[int, Exception] = {}
        self._failures: dict[int, ProfileError] = {}  # of profiles, by source id
        self._staging = staging
        self._bytes = all_bytes
        self._progress = progress
        self._positions: dict[int, int] = {}  # bytes read, by source id
        self._lock = threading.Lock()
        self._is_damaged = False

    @property
    def failure(self) -> ProfileError | None:
        """Why the first profile that was read and is unreadable failed."""
        return self._failures[min(self._failures)] if self._failures else None

    def read(self, connection: duckdb.DuckDBPyConnection, source: Source) -> None:
        """Read a file through a connection to the scratch database."""
        if self._is_damaged:
            return
        began = time.perf_counter()
        shared = self._staging
        staging = shared if connection is shared.connection else shared.on(connection)
        load = source.format.load if source.format and source.is_profile else load_captures
        try:
            load(source, staging, lambda position: self._report(source, position))
            source.seconds = round(time.perf_counter() - began, 3)
        except ProfileError as error:
            if source.is_profile:
                self._failures[source.source_id] = error
            source.fail(str(error))
        except Exception as error:
            if not is_of_a_file(error, source.path):
                raise
            self.errors[source.source_id] = error.with_traceback(None)
            if isinstance(error, duckdb.FatalException | duckdb.InternalException):
                self._is_damaged = True  # the database cannot be used any more
        self._positions[source.source_id] = source.bytes or 0
        if source.state and source.state != state_of(source.path):
            raise ProfileError(f"{source.path}: it changed while it was read; add it again")

    def _report(self, source: Source, position: int) -> None:
        if self._progress:
            with self._lock:
                self._positions[source.source_id] = position
                self._progress(min(sum(self._positions.values()) / max(self._bytes, 1), 1.0))
